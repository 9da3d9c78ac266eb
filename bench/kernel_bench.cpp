//===- kernel_bench.cpp - how fast the kernels are --------------------------------------------===//
//
// Prints time, GMAC/s and the share of the core's measured peak (vpdpbusd for i8 and w4a8, FMA for
// f32, vdpbf16ps for bf16 where there is one, else FMA) of each kernel on the layers of ResNet-18
// at 224 px, of the 28 px Fashion-MNIST network and of some MobileNetV2 layers, in processor time
// of one thread. Not a test: numbers depend on the machine.
//
//   conquer-bench [level] [milliseconds per layer] [filter]
//
//===------------------------------------------------------------------------------------------===//
#include "conquer-opt/kernels/cq_kernels.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <time.h>

namespace {

struct Layer {
  const char *network;
  int count; ///< how often the network has it
  int size, inC, outC, kernel, stride, pad;
  bool depthwise;
};

const Layer layers[] = {
    {"resnet18", 1, 224, 3, 64, 7, 2, 3, false},   {"resnet18", 4, 56, 64, 64, 3, 1, 1, false},
    {"resnet18", 1, 56, 64, 128, 3, 2, 1, false},  {"resnet18", 3, 28, 128, 128, 3, 1, 1, false},
    {"resnet18", 1, 56, 64, 128, 1, 2, 0, false},  {"resnet18", 1, 28, 128, 256, 3, 2, 1, false},
    {"resnet18", 3, 14, 256, 256, 3, 1, 1, false}, {"resnet18", 1, 28, 128, 256, 1, 2, 0, false},
    {"resnet18", 1, 14, 256, 512, 3, 2, 1, false}, {"resnet18", 3, 7, 512, 512, 3, 1, 1, false},
    {"resnet18", 1, 14, 256, 512, 1, 2, 0, false}, {"resnet18", 1, 1, 512, 1000, 1, 1, 0, false},
    {"fashion", 1, 28, 1, 32, 3, 1, 1, false},     {"fashion", 4, 28, 32, 32, 3, 1, 1, false},
    {"fashion", 1, 28, 32, 64, 3, 2, 1, false},    {"fashion", 3, 14, 64, 64, 3, 1, 1, false},
    {"fashion", 1, 14, 64, 128, 3, 2, 1, false},   {"fashion", 3, 7, 128, 128, 3, 1, 1, false},
    {"fashion", 1, 7, 128, 256, 3, 2, 1, false},   {"fashion", 3, 4, 256, 256, 3, 1, 1, false},
    {"fashion", 1, 1, 256, 10, 1, 1, 0, false},    {"mobilenet", 1, 224, 3, 32, 3, 2, 1, false},
    {"mobilenet", 1, 112, 32, 16, 1, 1, 0, false}, {"mobilenet", 1, 112, 16, 96, 1, 1, 0, false},
    {"mobilenet", 1, 56, 24, 144, 1, 1, 0, false}, {"mobilenet", 1, 28, 192, 32, 1, 1, 0, false},
    {"mobilenet", 1, 14, 384, 96, 1, 1, 0, false}, {"mobilenet", 1, 7, 320, 1280, 1, 1, 0, false},
    {"mobilenet", 1, 112, 32, 32, 3, 1, 1, true},  {"mobilenet", 1, 112, 96, 96, 3, 2, 1, true},
    {"mobilenet", 1, 56, 144, 144, 3, 1, 1, true}, {"mobilenet", 1, 14, 384, 384, 3, 1, 1, true},
    {"mobilenet", 1, 7, 960, 960, 3, 1, 1, true},
};

/// Processor time of this thread: other programs that share the core do not count.
double seconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Multiply-accumulates per second of 12 independent chains of one instruction on registers of 0
/// that does `MACS` of them.
#define CONQUER_PEAK(NAME, FEATURE, INSTRUCTION, MACS)                                             \
  double NAME() {                                                                                  \
    if (!__builtin_cpu_supports(FEATURE))                                                          \
      return 0;                                                                                    \
    const long rounds = 100000;                                                                    \
    const double start = seconds();                                                                \
    asm volatile("vpxord %%zmm30, %%zmm30, %%zmm30\n"                                              \
                 "vpxord %%zmm31, %%zmm31, %%zmm31\n"                                              \
                 "mov %0, %%rcx\n"                                                                 \
                 "1:\n"                                                                            \
                 ".irp r,0,1,2,3,4,5,6,7,8,9,10,11\n" INSTRUCTION " %%zmm30, %%zmm31, %%zmm\\r\n"  \
                 ".endr\n"                                                                         \
                 "dec %%rcx\n"                                                                     \
                 "jnz 1b\n"                                                                        \
                 :                                                                                 \
                 : "r"(rounds)                                                                     \
                 : "rcx", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",    \
                   "xmm8", "xmm9", "xmm10", "xmm11", "xmm30", "xmm31");                            \
    return static_cast<double>(rounds) * 12 * (MACS) / (seconds() - start);                        \
  }

#if defined(__x86_64__)
CONQUER_PEAK(vnniPeak, "avx512vnni", "vpdpbusd", 64)
CONQUER_PEAK(fmaPeak, "avx512f", "vfmadd231ps", 16)
CONQUER_PEAK(pairPeak, "avx512bf16", "vdpbf16ps", 32)
#else
double vnniPeak() { return 0; }
double fmaPeak() { return 0; }
double pairPeak() { return 0; }
#endif

/// A tensor aligned as the evaluator and the modules align theirs, filled with small numbers.
template <typename T> struct Tensor {
  explicit Tensor(size_t size)
      : data(static_cast<T *>(::operator new(size * sizeof(T) + 64, std::align_val_t(64)))) {
    for (size_t i = 0; i < size; ++i)
      data[i] = static_cast<T>(static_cast<int>(i * 7919 % 251) - 125);
  }
  Tensor(const Tensor &) = delete;
  Tensor &operator=(const Tensor &) = delete;
  ~Tensor() { ::operator delete(data, std::align_val_t(64)); }
  T *data;
};

/// The best time of `run` within the budget, of batches long enough for the clock; alternates with
/// the peak, so that both see the same clock frequency.
template <typename Run>
double bestTime(const Run &run, double budget, double (*peakOf)(), double &peak) {
  double begin = seconds();
  run();
  const int batch = 1 + static_cast<int>(2e-4 / (seconds() - begin + 1e-7));
  double best = 1e30;
  for (const double start = seconds(); seconds() - start < budget;) {
    peak = std::max(peak, peakOf());
    begin = seconds();
    for (int i = 0; i < batch; ++i)
      run();
    best = std::min(best, (seconds() - begin) / batch);
  }
  return best;
}

enum Kind { I8, W4A8, Bf16, F32, kinds };
const char *const kindNames[] = {"i8", "w4a8", "bf16", "f32"};

/// The seconds of each kind.
struct Result {
  double time[kinds];
};

cq_conv2d_params paramsOf(const Layer &layer) {
  cq_conv2d_params p = {};
  p.batch = 1;
  p.in_h = p.in_w = layer.size;
  p.in_c = layer.inC;
  p.out_c = layer.outC;
  p.kernel_h = p.kernel_w = layer.kernel;
  p.stride_h = p.stride_w = layer.stride;
  p.dilation_h = p.dilation_w = 1;
  p.pad_top = p.pad_left = layer.pad;
  p.out_h = p.out_w = (layer.size + 2 * layer.pad - layer.kernel) / layer.stride + 1;
  p.clamp_min = -128;
  p.clamp_max = 127;
  p.clamp_min_f32 = -1e30f;
  p.clamp_max_f32 = 1e30f;
  return p;
}

size_t inputsOf(const cq_conv2d_params &p) {
  return static_cast<size_t>(p.in_h * p.in_w) * static_cast<size_t>(p.in_c);
}
size_t outputsOf(const cq_conv2d_params &p) {
  return static_cast<size_t>(p.out_h * p.out_w) * static_cast<size_t>(p.out_c);
}

double timeOf(const cq_integer_kernels &kernels, const cq_conv2d_params &p, size_t weights,
              double budget, double &peak) {
  const auto outC = static_cast<size_t>(p.out_c);
  Tensor<int8_t> input(inputsOf(p)), raw(weights), output(outputsOf(p)), packed(kernels.size(&p));
  Tensor<int32_t> bias(outC), packedBias(outC);
  Tensor<float> scale(outC);
  std::fill(scale.data, scale.data + outC, 1e-4f);
  std::transform(raw.data, raw.data + weights, raw.data,
                 [](int8_t value) { return static_cast<int8_t>(value / 18); });
  kernels.pack(raw.data, bias.data, &p, packed.data, packedBias.data);
  auto run = [&] {
    kernels.to_i8(input.data, packed.data, packedBias.data, scale.data, &p, output.data, 0, 1);
  };
  return bestTime(run, budget, vnniPeak, peak);
}

/// `toStored` turns a small number into an element.
template <typename T, typename Kernels, typename ToStored>
double timeOf(const Kernels &kernels, const cq_conv2d_params &p, size_t weights,
              const ToStored &toStored, double budget, double (*peakOf)(), double &peak) {
  Tensor<T> input(inputsOf(p)), raw(weights), output(outputsOf(p)), packed(kernels.size(&p));
  Tensor<float> bias(static_cast<size_t>(p.out_c));
  for (size_t i = 0; i < inputsOf(p); ++i)
    input.data[i] = toStored(static_cast<float>(static_cast<int>(i * 7919 % 251) - 125));
  for (size_t i = 0; i < weights; ++i)
    raw.data[i] = toStored(static_cast<float>(static_cast<int>(i * 7919 % 251) - 125));
  kernels.pack(raw.data, &p, packed.data);
  auto run = [&] { kernels.run(input.data, packed.data, bias.data, &p, output.data, 0, 1); };
  return bestTime(run, budget, peakOf, peak);
}

uint16_t upperHalf(float value) {
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  return static_cast<uint16_t>(bits >> 16);
}

Result measure(const cq_level &level, const Layer &layer, double budget) {
  const cq_conv2d_params p = paramsOf(layer);
  const bool dw = layer.depthwise;
  const size_t products = static_cast<size_t>(p.kernel_h) * static_cast<size_t>(p.kernel_w) *
                          static_cast<size_t>(dw ? 1 : p.in_c);
  const size_t weights = products * static_cast<size_t>(p.out_c);
  const double macs = static_cast<double>(outputsOf(p)) * static_cast<double>(products);
  const bool hasPairs = std::string(level.name) == "avx512bf16";

  Result result = {};
  double peak[kinds] = {};
  result.time[I8] = timeOf(dw ? level.depthwise_i8 : level.conv2d_i8, p, weights, budget, peak[I8]);
  result.time[W4A8] =
      timeOf(dw ? level.depthwise_w4a8 : level.conv2d_w4a8, p, weights, budget, peak[W4A8]);
  result.time[Bf16] =
      timeOf<uint16_t>(dw ? level.depthwise_bf16 : level.conv2d_bf16, p, weights, upperHalf, budget,
                       hasPairs ? pairPeak : fmaPeak, peak[Bf16]);
  result.time[F32] = timeOf<float>(
      dw ? level.depthwise_f32 : level.conv2d_f32, p, weights, [](float value) { return value; },
      budget, fmaPeak, peak[F32]);
  std::printf("%-9s %dx %-5s %3d px %4d -> %4d  %dx%d/%d", layer.network, layer.count,
              dw ? "dw" : "conv", layer.size, layer.inC, layer.outC, layer.kernel, layer.kernel,
              layer.stride);
  for (int kind = 0; kind < kinds; ++kind) {
    const double rate = macs / result.time[kind];
    std::printf(" | %s %7.3f ms %5.1f GMAC/s %5.1f %%", kindNames[kind], result.time[kind] * 1e3,
                rate / 1e9, peak[kind] > 0 ? 100 * rate / peak[kind] : 0);
  }
  std::printf("\n");
  std::fflush(stdout);
  return result;
}

} // namespace

int main(int argc, char **argv) {
  const std::string name = argc > 1 ? argv[1] : "avx512vnni";
  const double budget = argc > 2 ? std::strtod(argv[2], nullptr) / 1e3 : 0.05;
  const std::string filter = argc > 3 ? argv[3] : "";
  const cq_level *level = cq_find_level(name.c_str());
  if (!level) {
    std::fprintf(stderr, "no kernel level \"%s\" in this build; known:", name.c_str());
    for (const cq_level *const *known = cq_levels(); *known; ++known)
      std::fprintf(stderr, " %s", (*known)->name);
    std::fprintf(stderr, "\n");
    return 1;
  }
  std::printf("peaks: vpdpbusd %.1f, vdpbf16ps %.1f, f32 FMA %.1f GMAC/s\n", vnniPeak() / 1e9,
              pairPeak() / 1e9, fmaPeak() / 1e9);
  for (const char *network : {"resnet18", "fashion", "mobilenet"}) {
    if (std::string(network).find(filter) == std::string::npos)
      continue;
    Result total = {};
    for (const Layer &layer : layers) {
      if (layer.network != std::string(network))
        continue;
      const Result result = measure(*level, layer, budget);
      for (int kind = 0; kind < kinds; ++kind)
        total.time[kind] += layer.count * result.time[kind];
    }
    std::printf("%s, layers listed times their count:", network);
    for (int kind = 0; kind < kinds; ++kind)
      std::printf(" %s %.3f ms", kindNames[kind], total.time[kind] * 1e3);
    std::printf("\n\n");
  }
}
