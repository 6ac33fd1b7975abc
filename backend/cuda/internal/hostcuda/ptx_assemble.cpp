// Reads the text of a kernel. It knows the PTX that clang makes of ../kernels, and says so
// of everything else: an instruction that is not understood must not pass for one that is.
#include "ptx.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <map>

namespace ptx {

namespace {

struct Unknown {
    std::string what;
};

struct Register {
    Operand at;
    bool wide, predicate;
};

struct Assembler {
    Program &p;
    std::map<std::string, Register> registers;
    std::map<std::string, uint32_t> symbols; // of shared memory, and their addresses
    std::map<std::string, uint32_t> labels;
    std::map<uint64_t, Operand> constants;
    std::vector<std::pair<std::size_t, std::string>> branches; // instruction, label

    uint32_t room(uint32_t words, uint32_t fill) {
        uint32_t at = (uint32_t)p.registers.size();
        p.registers.insert(p.registers.end(), words, fill);
        return at;
    }

    Register narrow() { return {{room(LANES, fresh), 0}, false, false}; }

    void declare(const std::string &type, const std::string &name) {
        Register r{};
        if (type == ".pred") {
            r = {{(uint32_t)p.predicates++, 0}, false, true};
        } else if (type == ".b64" || type == ".f64") {
            r = {{0, room(2 * LANES, fresh)}, true, false};
        } else if (type == ".b32" || type == ".f32" || type == ".b16") {
            r = narrow();
        } else {
            throw Unknown{"registers of type " + type};
        }
        registers[name] = r;
    }

    Operand constant(uint64_t bits) {
        auto [it, is_new] = constants.try_emplace(bits);
        if (is_new) {
            uint32_t low = (uint32_t)bits, high = (uint32_t)(bits >> 32);
            it->second = {room(LANES, low), room(2 * LANES, low)};
            for (int lane = 0; lane < LANES; lane++) p.registers[it->second.wide + 2 * (uint32_t)lane + 1] = high;
        }
        return it->second;
    }

    static constexpr uint32_t fresh = 0x7fc07fc0; // a NaN, and no address

    // number reads a constant.
    static bool number(const std::string &s, uint64_t &bits) {
        if (s.size() == 10 && s[0] == '0' && s[1] == 'f') {
            bits = strtoull(s.c_str() + 2, nullptr, 16);
            return true;
        }
        if (s.size() == 18 && s[0] == '0' && s[1] == 'd') {
            bits = strtoull(s.c_str() + 2, nullptr, 16);
            return true;
        }
        char *end;
        bits = s[0] == '-' ? (uint64_t)strtoll(s.c_str(), &end, 0) : strtoull(s.c_str(), &end, 0);
        return !s.empty() && *end == 0;
    }

    void add(Instruction &i, const std::string &s) {
        if (i.count == i.operand.size()) throw Unknown{"so many operands"};
        uint8_t k = i.count++;
        uint64_t bits;
        if (auto r = registers.find(s); r != registers.end()) {
            i.operand[k] = r->second.at;
            (r->second.predicate ? i.predicate : r->second.wide ? i.wide : i.narrow) |= 1u << k;
        } else if (auto at = symbols.find(s); at != symbols.end()) {
            i.operand[k] = constant(at->second);
        } else if (!s.empty() && number(s, bits)) {
            i.operand[k] = constant(bits);
        } else {
            throw Unknown{"the operand " + s};
        }
    }

    // address reads [operand] or [operand+offset].
    void address(Instruction &i, const std::string &s) {
        std::string inside = s.substr(1, s.size() - 2);
        std::size_t plus = inside.find('+');
        i.offset = plus == std::string::npos ? 0 : strtoll(inside.c_str() + plus + 1, nullptr, 10);
        i.address = i.count;
        if (plus != std::string::npos) inside.resize(plus);
        add(i, inside);
    }

    void declaration(const std::string &s);
    void statement(const std::string &s, int line);
    void memory(Instruction &i, const std::vector<std::string> &words, std::vector<std::string> &operands);
    void special(const std::string &name, std::size_t which);
};

std::string trimmed(const std::string &s) {
    std::size_t from = s.find_first_not_of(" \t\r\n"), to = s.find_last_not_of(" \t\r\n");
    return from == std::string::npos ? "" : s.substr(from, to - from + 1);
}

std::vector<std::string> split(const std::string &s, char at) {
    std::vector<std::string> parts;
    std::size_t from = 0;
    int depth = 0;
    for (std::size_t k = 0; k <= s.size(); k++) {
        if (k < s.size()) depth += (s[k] == '{') - (s[k] == '}');
        if (k == s.size() || (s[k] == at && depth == 0)) {
            parts.push_back(trimmed(s.substr(from, k - from)));
            from = k + 1;
        }
    }
    return parts;
}

// .reg .b32 %r<287>    .reg .b16 tmp    .shared .align 16 .b8 name[64]
void Assembler::declaration(const std::string &s) {
    char type[16], name[512];
    unsigned count, align;
    if (sscanf(s.c_str(), ".reg %15s %511[^<; \t]<%u>", type, name, &count) == 3) {
        for (unsigned k = 0; k < count; k++) declare(type, name + std::to_string(k));
    } else if (sscanf(s.c_str(), ".reg %15s %511s", type, name) == 2) {
        declare(type, name);
    } else if (sscanf(s.c_str(), ".shared .align %u .b8 %511[^[][%u]", &align, name, &count) == 3) {
        p.shared = (p.shared + align - 1) / align * align;
        symbols[name] = p.shared;
        p.shared += count;
    } else if (s.rfind(".pragma", 0) != 0) {
        throw Unknown{"the declaration"};
    }
}

void Assembler::special(const std::string &name, std::size_t which) {
    for (std::size_t axis = 0; axis < 3; axis++) {
        Register r = narrow();
        p.special[which][axis] = r.at.narrow;
        registers[name + "." + "xyz"[axis]] = r;
    }
}

// The bytes of a type, and whether it is signed.
bool type_of(const std::string &word, uint8_t &bytes, bool &is_signed) {
    if (word.size() < 2 || !strchr("busf", word[0])) return false;
    int bits = atoi(word.c_str() + 1);
    if (bits != 16 && bits != 32 && bits != 64) return false;
    bytes = (uint8_t)(bits / 8);
    is_signed = word[0] == 's';
    return true;
}

// ld and st with a space, .nc, .v2 or .v4, and a type; atom.add; cp.async; prefetch, which changes nothing but times.
void Assembler::memory(Instruction &i, const std::vector<std::string> &words, std::vector<std::string> &operands) {
    if (words[0] == "cp" && words[1] == "async") {
        if (words[2] == "commit_group") {
            i.run = copy_commit;
        } else if (words[2] == "wait_group") {
            i.run = copy_wait;
            add(i, operands.at(0));
        } else if (words.size() == 5 && words[3] == "shared" && words[4] == "global" && operands.size() >= 3) {
            i.run = copy_async;
            i.bytes = (uint8_t)atoi(operands[2].c_str());
            if (i.bytes != 4 && i.bytes != 8 && i.bytes != 16) throw Unknown{"a copy of such a size"};
            if (words[2] == "cg" && i.bytes != 16) throw Unknown{"cp.async.cg of other than 16 bytes"};
            for (std::size_t k = 0; k < operands.size(); k++) {
                const std::string &o = operands[k];
                add(i, k < 2 ? o.substr(1, o.size() - 2) : o);
            }
        } else {
            throw Unknown{"the copy"};
        }
        return;
    }
    if (words[0] == "prefetch") {
        if (words.size() != 3 || words[1] != "global" || words[2] != "L2") throw Unknown{"the prefetch"};
        i.run = [](Warp &, const Instruction &, uint32_t) {};
        return;
    }
    for (std::size_t k = 1; k < words.size(); k++) {
        const std::string &word = words[k];
        if (word == "param") {
            i.space = Space::parameter;
        } else if (word == "shared") {
            i.space = Space::shared;
        } else if (word == "global") {
            i.space = Space::global;
        } else if (word == "nc") {
            i.constant = true;
        } else if (word == "v2" || word == "v4") {
            i.vector = (uint8_t)(word[1] - '0');
        } else if (word == "add" && words[0] == "atom") {
            i.atomic = true;
        } else if (!type_of(word, i.bytes, i.is_signed)) {
            throw Unknown{"." + word};
        }
    }
    if (words[0] == "atom") {
        if (!i.atomic || i.bytes != 4) throw Unknown{"the atomic operation"};
        if (i.space == Space::none) i.space = Space::global; // generic, of what only lies there
        i.run = atomic_add;
        add(i, operands.at(0));
        address(i, operands.at(1));
        add(i, operands.at(2));
        return;
    }
    if (i.space == Space::none || i.bytes == 0) throw Unknown{"an access without a space or a type"};
    if (i.space == Space::global && i.bytes < 4) throw Unknown{"global memory by less than 4 bytes"};
    if (i.space == Space::shared) p.word = std::min<uint32_t>(p.word, i.bytes);
    i.run = words[0] == "ld" ? load : store;
    std::string &values = operands.at(words[0] == "ld" ? 0 : 1), &where = operands.at(words[0] == "ld" ? 1 : 0);
    if (values[0] == '{') values = values.substr(1, values.size() - 2);
    std::vector<std::string> each = split(values, ',');
    if (each.size() != i.vector) throw Unknown{"a vector of another length"};
    for (const std::string &v : each) add(i, v);
    if (i.space == Space::parameter) {
        // [kernel_param_3]: parameters lie in the registers.
        std::size_t number = where.rfind("_param_");
        if (number == std::string::npos || i.vector != 1) throw Unknown{"the parameter"};
        std::size_t k = strtoul(where.c_str() + number + 7, nullptr, 10);
        if (k >= p.parameters.size()) throw Unknown{"a parameter that there is not"};
        i.operand[i.count++] = {0, p.parameters[k]};
    } else {
        address(i, where);
    }
}

void Assembler::statement(const std::string &s, int line) {
    if (s[0] == '.') return declaration(s);
    Instruction i;
    i.line = line;
    i.text = s;
    std::string rest = s;
    if (rest[0] == '@') {
        std::size_t space = rest.find_first_of(" \t");
        if (space == std::string::npos) throw Unknown{"the guard"};
        std::string name = rest.substr(1, space - 1);
        if (name[0] == '!') i.unless = true, name = name.substr(1);
        auto r = registers.find(name);
        if (r == registers.end() || !r->second.predicate) throw Unknown{"the guard " + name};
        i.guard = (int)r->second.at.narrow;
        rest = trimmed(rest.substr(space));
    }
    std::size_t space = rest.find_first_of(" \t");
    std::string name = rest.substr(0, space);
    std::vector<std::string> operands;
    if (space != std::string::npos) operands = split(rest.substr(space), ',');
    std::vector<std::string> words = split(name, '.');

    if (words[0] == "bra") {
        i.kind = Kind::branch;
        branches.emplace_back(p.code.size(), operands.at(0));
    } else if (words[0] == "ret" || words[0] == "exit") {
        i.kind = Kind::exit;
    } else if (name == "bar.sync" && operands.at(0) == "0") {
        i.kind = Kind::barrier;
    } else if (words[0] == "ld" || words[0] == "st" || words[0] == "atom" || words[0] == "cp" || words[0] == "prefetch") {
        memory(i, words, operands);
    } else if (words[0] == "mma" || words[0] == "shfl" || words[0] == "ldmatrix" || name == "bar.warp.sync") {
        i.kind = Kind::together;
        i.members = 0xffffffff;
        for (std::string o : operands) {
            if (o[0] == '{') o = o.substr(1, o.size() - 2);
            if (o[0] == '[') {
                address(i, o);
                continue;
            }
            for (const std::string &v : split(o, ',')) add(i, v);
        }
        if (words[0] == "shfl" || name == "bar.warp.sync") {
            uint64_t members;
            if (!number(operands.back(), members)) throw Unknown{"lanes that are not constant"};
            i.members = (uint32_t)members;
        }
        i.run = words[0] == "ldmatrix" ? load_matrices : operation(name);
        if (words[0] == "ldmatrix") {
            i.transposed = name.find(".trans.") != std::string::npos;
            if (words.at(4) != "x4") throw Unknown{"so many matrices"};
        }
    } else {
        // mov with braces joins or parts registers.
        std::string shape;
        for (std::string o : operands) {
            bool many = o[0] == '{';
            if (many) o = o.substr(1, o.size() - 2);
            std::vector<std::string> each = split(o, ',');
            if (many && each.size() != 2) throw Unknown{"other than two parts"};
            shape += many ? '2' : '1';
            for (const std::string &v : each) add(i, v);
        }
        if (words[0] == "mov" && shape == "12") name += " joins";
        else if (words[0] == "mov" && shape == "21") name += " parts";
        else if (shape.find('2') != std::string::npos) throw Unknown{"operands in braces"};
        i.run = operation(name);
    }
    if (i.run == nullptr && (i.kind == Kind::plain || i.kind == Kind::together)) throw Unknown{"the instruction"};
    p.code.push_back(std::move(i));
}

} // namespace

std::unique_ptr<Program> assemble(const std::string &name, int parameters, const std::string &body, int line, std::string &error) {
    auto p = std::make_unique<Program>();
    p->name = name;
    Assembler a{*p, {}, {}, {}, {}, {}};
    for (int k = 0; k < parameters; k++) p->parameters.push_back(a.room(2 * LANES, 0));
    a.special("%tid", 0);
    a.special("%ntid", 1);
    a.special("%ctaid", 2);
    a.special("%nctaid", 3);
    std::string text;
    try {
        // Static shared memory comes first, and dynamic memory behind it: two rounds.
        for (int round = 0; round < 2; round++) {
            int at = line;
            text.clear();
            for (std::size_t k = 0; k < body.size(); k++) {
                char c = body[k];
                at += c == '\n';
                if (text.empty() && (isspace((unsigned char)c) || c == '{' || c == '}')) continue;
                if (c == ':' && text.find_first_of(" \t") == std::string::npos) {
                    if (round == 1) a.labels[text] = (uint32_t)p->code.size();
                    text.clear();
                    continue;
                }
                if (c != ';') {
                    text += c;
                    continue;
                }
                bool shared = text.rfind(".shared", 0) == 0;
                if (shared == (round == 0)) a.statement(trimmed(text), at);
                text.clear();
            }
            if (!text.empty()) throw Unknown{"the end"};
            p->shared = (p->shared + 15) / 16 * 16;
            a.symbols["dynamic_shared_memory"] = p->shared;
        }
        for (auto &[k, label] : a.branches) {
            auto it = a.labels.find(label);
            if (it == a.labels.end()) throw Unknown{"the label " + label};
            p->code[k].target = it->second;
        }
    } catch (const Unknown &u) {
        error = "kernel " + name + ": not known: " + u.what + ", in: " + trimmed(text);
        return nullptr;
    } catch (const std::out_of_range &) {
        error = "kernel " + name + ": an operand is missing, in: " + trimmed(text);
        return nullptr;
    }
    return p;
}

} // namespace ptx
