// What was counted, for a person who wants to know what a kernel asks of the GPU before
// there is one.
#include "ptx.h"

#include <cstdio>
#include <map>

namespace ptx {

bool counting;

namespace {

std::map<std::string, Counts> &kept() {
    static std::map<std::string, Counts> all;
    return all;
}

} // namespace

void keep_counts(const Program &p) {
    if (p.counts.launches == 0) return;
    Counts &to = kept()[p.name];
    const Counts &c = p.counts;
    to.launches += c.launches, to.blocks += c.blocks, to.warps += c.warps;
    to.instructions += c.instructions, to.lanes += c.lanes, to.products += c.products;
    to.shared += c.shared, to.wavefronts += c.wavefronts, to.least_wavefronts += c.least_wavefronts;
    to.global += c.global, to.sectors += c.sectors, to.least_sectors += c.least_sectors;
}

void write_names(const char *path) {
    FILE *f = fopen(path, "w");
    if (f == nullptr) {
        perror(path);
        return;
    }
    for (const auto &[name, c] : kept()) fprintf(f, "%s\n", name.c_str());
    if (fclose(f) != 0) perror(path);
}

void write_profile(const char *path) {
    FILE *f = fopen(path, "w");
    if (f == nullptr) {
        perror(path);
        return;
    }
    auto ratio = [](uint64_t a, uint64_t b) { return b == 0 ? 0.0 : (double)a / (double)b; };
    fprintf(f, "# of each kernel: launches; instructions of warps, and of their 32 lanes how many took part; products of\n"
               "# matrices; accesses to shared memory, cycles that each takes, and as a multiple of the least; accesses\n"
               "# to global memory, sectors of 32 bytes that each touches, and as a multiple of the least\n");
    fprintf(f, "%-28s %8s %12s %6s %10s %10s %6s %6s %10s %6s %6s\n", "kernel", "launches", "instructions", "lanes", "products", "shared", "cycles", "ratio",
            "global", "sector", "ratio");
    for (const auto &[name, c] : kept())
        fprintf(f, "%-28s %8llu %12llu %6.1f %10llu %10llu %6.2f %6.2f %10llu %6.2f %6.2f\n", name.c_str(), (unsigned long long)c.launches,
                (unsigned long long)c.instructions, ratio(c.lanes, c.instructions), (unsigned long long)c.products, (unsigned long long)c.shared,
                ratio(c.wavefronts, c.shared), ratio(c.wavefronts, c.least_wavefronts), (unsigned long long)c.global, ratio(c.sectors, c.global),
                ratio(c.sectors, c.least_sectors));
    if (fclose(f) != 0) perror(path);
}

} // namespace ptx
