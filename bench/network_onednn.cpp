// oneDNN in the race of network.sh: the network on primitives in the layout that the
// library prefers, with what it can fuse fused.
//
//	g++ -O2 -fopenmp network_onednn.cpp -o network_onednn -ldnnl
//	network_onednn direct|winograd FOLDER THREADS REPETITIONS
//
// FOLDER is what `netrace prepare` wrote: 64 channels, one Euler step of size 1 a block,
// LeakyReLU(0.01). The output is compared with the one in the folder; a difference above
// 1e-4 is an error. Prints one line of JSON. The exit status is 3 where oneDNN does not
// have the algorithm for this processor.
#include <dnnl.hpp>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#if DNNL_VERSION_MAJOR != 2
#error "this race is written for oneDNN 2 (Debian 12 has 2.6)"
#endif

using dnnl::memory;
using Arguments = std::unordered_map<int, memory>;

namespace {

constexpr double allowed = 1e-4;
constexpr memory::dim width = 64;   // channels of the network
constexpr memory::dim colours = 3;  // channels of a picture
constexpr float slope = 0.01f;
constexpr int taps = 9;

struct Tensor {
    memory::dims shape;
    std::vector<float> data;
};

// SafeTensors is a file of float32 tensors.
class SafeTensors {
public:
    explicit SafeTensors(const std::string &path) : path_(path) {
        std::ifstream f(path, std::ios::binary);
        const std::string raw{std::istreambuf_iterator<char>(f), std::istreambuf_iterator<char>()};
        uint64_t length = 0;
        if (raw.size() < sizeof length) throw std::runtime_error("cannot read " + path);
        std::memcpy(&length, raw.data(), sizeof length);
        if (length > raw.size() - sizeof length) throw std::runtime_error(path + " ends within its header");
        header_ = raw.substr(sizeof length, length);
        data_ = raw.substr(sizeof length + length);
    }

    // has and at look for "name":{…} in the header: netrace writes it without spaces,
    // and quotes within metadata are escaped.
    bool has(const std::string &name) const { return header_.find(key(name)) != std::string::npos; }

    Tensor at(const std::string &name) const {
        const size_t begin = header_.find(key(name));
        if (begin == std::string::npos) throw std::runtime_error(path_ + " has no tensor " + name);
        const std::string info = header_.substr(begin, header_.find('}', begin) - begin);
        if (info.find("\"dtype\":\"F32\"") == std::string::npos) throw std::runtime_error(name + " is not of type F32");
        const std::vector<memory::dim> at = numbers(info, "\"data_offsets\":[");
        Tensor t{numbers(info, "\"shape\":["), {}};
        size_t count = 1;
        for (memory::dim n : t.shape) count *= size_t(n);
        if (at.size() != 2 || at[0] < 0 || size_t(at[1]) > data_.size() || size_t(at[1] - at[0]) != count * sizeof(float))
            throw std::runtime_error(path_ + " is broken at " + name);
        t.data.resize(count);
        std::memcpy(t.data.data(), data_.data() + at[0], count * sizeof(float));
        return t;
    }

private:
    static std::string key(const std::string &name) { return "\"" + name + "\":{"; }

    static std::vector<memory::dim> numbers(const std::string &text, const std::string &after) {
        std::vector<memory::dim> list;
        size_t at = text.find(after);
        if (at == std::string::npos) return list;
        for (const char *p = text.c_str() + at + after.size(); *p && *p != ']';) {
            char *end;
            list.push_back(std::strtoll(p, &end, 10));
            if (end == p) break;
            p = *end == ',' ? end + 1 : end;
        }
        return list;
    }

    std::string path_, header_, data_;
};

// Convolution is one of the two of a block: a primitive that does all, or, where the
// library cannot fuse what follows, two.
struct Convolution {
    dnnl::convolution_forward::primitive_desc description;
    bool fused = true;
};

// Network runs on buffers of its own.
class Network {
public:
    Network(dnnl::algorithm algorithm, const SafeTensors &file, memory::dim n, memory::dim h, memory::dim w)
        : engine_(dnnl::engine::kind::cpu, 0), stream_(engine_), n_(n), h_(h), w_(w) {
        const memory::desc any({n, width, h, w}, memory::data_type::f32, memory::format_tag::any);
        forward_ = convolution(algorithm, any, any, true);
        z_ = memory(forward_.description.src_desc(), engine_);
        u_ = memory(forward_.description.dst_desc(), engine_);
        adjoint_ = convolution(algorithm, u_.get_desc(), z_.get_desc(), false);
        forwardRun_ = dnnl::convolution_forward(forward_.description);
        adjointRun_ = dnnl::convolution_forward(adjoint_.description);
        if (!forward_.fused)
            activation_ = dnnl::eltwise_forward({{dnnl::prop_kind::forward_inference, dnnl::algorithm::eltwise_relu, u_.get_desc(), slope}, engine_});
        if (!adjoint_.fused) {
            update_ = memory(z_.get_desc(), engine_);
            add_ = dnnl::binary({{dnnl::algorithm::binary_add, z_.get_desc(), z_.get_desc(), z_.get_desc()}, engine_});
        }
        for (int i = 0; file.has(block(i, "weight")); i++) {
            const Tensor filter = file.at(block(i, "weight")), bias = file.at(block(i, "bias"));
            if (filter.shape != memory::dims{width, width, 3, 3} || bias.shape != memory::dims{width})
                throw std::runtime_error("block " + std::to_string(i) + " has not 64 channels and 3×3 weights");
            // The adjoint's weights are turned, with the sign of the step in them.
            std::vector<float> turned(filter.data.size());
            for (memory::dim o = 0; o < width; o++)
                for (memory::dim c = 0; c < width; c++)
                    for (int k = 0; k < taps; k++)
                        turned[(c * width + o) * taps + taps - 1 - k] = -filter.data[(o * width + c) * taps + k];
            filters_.push_back(prepared(filter.data, forward_));
            adjoints_.push_back(prepared(turned, adjoint_));
            biases_.emplace_back(forward_.description.bias_desc(), engine_);
            std::memcpy(biases_.back().get_data_handle(), bias.data.data(), width * sizeof(float));
        }
        lane_ = lane();
        if (!lane_)
            planar_ = memory({{n, width, h, w}, memory::data_type::f32, memory::format_tag::nchw}, engine_);
    }

    size_t blocks() const { return filters_.size(); }
    std::string implementation() const {
        return std::string(forward_.description.impl_info_str()) + (forward_.fused ? "" : ", activation apart") +
               (adjoint_.fused ? "" : ", update apart");
    }

    // run applies the network to pictures of shape (n, 3, h, w).
    void run(const std::vector<float> &in, std::vector<float> &out) {
        lift(in);
        for (size_t i = 0; i < blocks(); i++) {
            forwardRun_.execute(stream_, Arguments{{DNNL_ARG_SRC, z_}, {DNNL_ARG_WEIGHTS, filters_[i]}, {DNNL_ARG_BIAS, biases_[i]}, {DNNL_ARG_DST, u_}});
            if (!forward_.fused) activation_.execute(stream_, Arguments{{DNNL_ARG_SRC, u_}, {DNNL_ARG_DST, u_}});
            adjointRun_.execute(stream_, Arguments{{DNNL_ARG_SRC, u_}, {DNNL_ARG_WEIGHTS, adjoints_[i]}, {DNNL_ARG_DST, adjoint_.fused ? z_ : update_}});
            if (!adjoint_.fused) add_.execute(stream_, Arguments{{DNNL_ARG_SRC_0, z_}, {DNNL_ARG_SRC_1, update_}, {DNNL_ARG_DST, z_}});
        }
        stream_.wait();
        project(out);
    }

private:
    static std::string block(int i, const char *what) { return "blocks." + std::to_string(i) + "." + what; }

    // convolution describes A with bias and activation, or its adjoint added to what is
    // in the destination.
    Convolution convolution(dnnl::algorithm algorithm, const memory::desc &src, const memory::desc &dst, bool forward) {
        const memory::desc filter({width, width, 3, 3}, memory::data_type::f32, memory::format_tag::any);
        const memory::desc bias({width}, memory::data_type::f32, memory::format_tag::x);
        const memory::dims one{1, 1};
        const auto inference = dnnl::prop_kind::forward_inference;
        const auto d = forward ? dnnl::convolution_forward::desc(inference, algorithm, src, filter, bias, dst, one, one, one)
                               : dnnl::convolution_forward::desc(inference, algorithm, src, filter, dst, one, one, one);
        dnnl::post_ops after;
        if (forward) after.append_eltwise(1.f, dnnl::algorithm::eltwise_relu, slope, 0.f);
        else after.append_sum(1.f);
        dnnl::primitive_attr attributes;
        attributes.set_post_ops(after);
        try {
            return {dnnl::convolution_forward::primitive_desc(d, attributes, engine_), true};
        } catch (const dnnl::error &e) {
            if (e.status != dnnl_unimplemented) throw;
        }
        return {dnnl::convolution_forward::primitive_desc(d, engine_), false};
    }

    memory prepared(std::vector<float> &values, const Convolution &c) {
        memory plain({{width, width, 3, 3}, memory::data_type::f32, memory::format_tag::oihw}, engine_, values.data());
        memory m(c.description.weights_desc(), engine_);
        dnnl::reorder(plain, m).execute(stream_, plain, m);
        stream_.wait();
        return m;
    }
    memory prepared(const std::vector<float> &values, const Convolution &c) {
        std::vector<float> copy = values;
        return prepared(copy, c);
    }

    // lane returns the number of channels that stand side by side if the layout of z is
    // one of the blocked ones, and 0 otherwise.
    memory::dim lane() const {
        const memory::dims shape{n_, width, h_, w_};
        if (z_.get_desc() == memory::desc(shape, memory::data_type::f32, memory::format_tag::nChw16c)) return 16;
        if (z_.get_desc() == memory::desc(shape, memory::data_type::f32, memory::format_tag::nChw8c)) return 8;
        return 0;
    }

    // lift sets z to the pictures followed by channels of zeros.
    void lift(const std::vector<float> &in) {
        const memory::dim plane = h_ * w_;
        if (!lane_) {
            float *p = static_cast<float *>(planar_.get_data_handle());
            for (memory::dim k = 0; k < n_; k++, p += width * plane) {
                std::copy_n(in.data() + k * colours * plane, colours * plane, p);
                std::fill(p + colours * plane, p + width * plane, 0.f);
            }
            dnnl::reorder(planar_, z_).execute(stream_, planar_, z_);
            return;
        }
        float *z = static_cast<float *>(z_.get_data_handle());
#pragma omp parallel for collapse(2)
        for (memory::dim k = 0; k < n_; k++)
            for (memory::dim y = 0; y < h_; y++)
                for (memory::dim b = 0; b < width; b += lane_) {
                    float *row = z + ((k * width + b) * h_ + y * lane_) * w_;
                    std::fill(row, row + w_ * lane_, 0.f);
                    for (memory::dim c = b; c < std::min(b + lane_, colours); c++)
                        for (memory::dim x = 0; x < w_; x++) row[x * lane_ + c] = in[((k * colours + c) * h_ + y) * w_ + x];
                }
    }

    // project sets the pictures to the first channels of z.
    void project(std::vector<float> &out) {
        const memory::dim plane = h_ * w_;
        if (!lane_) {
            dnnl::reorder(z_, planar_).execute(stream_, z_, planar_);
            stream_.wait();
            const float *p = static_cast<const float *>(planar_.get_data_handle());
            for (memory::dim k = 0; k < n_; k++) std::copy_n(p + k * width * plane, colours * plane, out.data() + k * colours * plane);
            return;
        }
        const float *z = static_cast<const float *>(z_.get_data_handle());
#pragma omp parallel for collapse(2)
        for (memory::dim k = 0; k < n_; k++)
            for (memory::dim y = 0; y < h_; y++)
                for (memory::dim c = 0; c < colours; c++)
                    for (memory::dim x = 0; x < w_; x++) out[((k * colours + c) * h_ + y) * w_ + x] = z[(k * width * h_ + y * lane_) * w_ + x * lane_ + c];
    }

    dnnl::engine engine_;
    dnnl::stream stream_;
    memory::dim n_, h_, w_, lane_ = 0;
    Convolution forward_, adjoint_;
    dnnl::convolution_forward forwardRun_, adjointRun_;
    dnnl::eltwise_forward activation_;
    dnnl::binary add_;
    memory z_, u_, update_, planar_;
    std::vector<memory> filters_, adjoints_, biases_;
};

// peakMiB is the largest resident memory of this process, as Linux tells it.
double peakMiB() {
    std::ifstream f("/proc/self/status");
    for (std::string line; std::getline(f, line);)
        if (line.rfind("VmHWM:", 0) == 0) return std::strtod(line.c_str() + 6, nullptr) / 1024;
    return 0;
}

int race(const std::string &name, const std::string &folder, int threads, int repetitions) {
    if (threads < 1 || repetitions < 1) throw std::runtime_error("threads and repetitions must be at least 1");
    omp_set_num_threads(threads);
    const SafeTensors pictures(folder + "/pictures.safetensors");
    const Tensor input = pictures.at("input"), expected = pictures.at("output");
    if (input.shape.size() != 4 || input.shape[1] != colours || expected.shape != input.shape)
        throw std::runtime_error("the pictures have not the shape (pictures, 3, height, width)");
    const memory::dim n = input.shape[0], h = input.shape[2], w = input.shape[3];
    std::optional<Network> network;
    try {
        network.emplace(name == "winograd" ? dnnl::algorithm::convolution_winograd : dnnl::algorithm::convolution_direct,
                        SafeTensors(folder + "/network.safetensors"), n, h, w);
    } catch (const dnnl::error &e) {
        if (e.status != dnnl_unimplemented) throw;
        std::fprintf(stderr, "oneDNN has no %s convolution for this processor\n", name.c_str());
        return 3;
    }
    constexpr int warmUp = 2;
    std::vector<float> output(input.data.size());
    std::vector<double> ms;
    for (int i = 0; i < warmUp + repetitions; i++) {
        const auto begin = std::chrono::steady_clock::now();
        network->run(input.data, output);
        const std::chrono::duration<double, std::milli> d = std::chrono::steady_clock::now() - begin;
        if (i >= warmUp) ms.push_back(d.count());
    }
    const double peak = peakMiB();
    double difference = 0;
    for (size_t i = 0; i < output.size(); i++) {
        const double d = std::fabs(double(output[i]) - double(expected.data[i]));
        if (!(d <= difference)) difference = d;
        if (std::isnan(d)) break;
    }
    if (!(difference <= allowed)) {
        std::fprintf(stderr, "oneDNN, %s: the output differs from the prepared one by %.2g, at most %.0e is allowed\n", name.c_str(), difference, allowed);
        return 1;
    }
    std::sort(ms.begin(), ms.end());
    const double median = (ms[(ms.size() - 1) / 2] + ms[ms.size() / 2]) / 2;
    const double operations = 2.0 * 2 * network->blocks() * taps * width * width * double(n * h * w);
    const dnnl_version_t *v = dnnl_version();
    std::printf("{\"racer\":\"oneDNN, %s\",\"version\":\"%d.%d.%d\",\"implementation\":\"%s\",\"threads\":%d,"
                "\"pictures\":%lld,\"height\":%lld,\"width\":%lld,\"repetitions\":%d,"
                "\"median_ms\":%.3f,\"minimum_ms\":%.3f,\"gflops\":%.3f,\"peak_mib\":%.3f,\"difference\":%.9g}\n",
                name.c_str(), v->major, v->minor, v->patch, network->implementation().c_str(), threads,
                (long long)n, (long long)h, (long long)w, repetitions,
                median, ms[0], operations / median / 1e6, peak, difference);
    return 0;
}

}  // namespace

int main(int argc, char **argv) {
    const std::string name = argc > 1 ? argv[1] : "";
    if (argc != 5 || (name != "direct" && name != "winograd")) {
        std::fprintf(stderr, "usage: network_onednn direct|winograd FOLDER THREADS REPETITIONS\n");
        return 2;
    }
    try {
        return race(name, argv[2], std::atoi(argv[3]), std::atoi(argv[4]));
    } catch (const dnnl::error &e) {
        std::fprintf(stderr, "oneDNN, %s: %s (status %d)\n", name.c_str(), e.what(), int(e.status));
    } catch (const std::exception &e) {
        std::fprintf(stderr, "oneDNN, %s: %s\n", name.c_str(), e.what());
    }
    return 1;
}
