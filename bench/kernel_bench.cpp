//===- kernel_bench.cpp - how fast the kernels are --------------------------------------------===//
//
// Prints time, GMAC/s and the share of the core's measured peak (vpdpbusd for i8, FMA for f32) of
// each kernel on the layers of ResNet-18 at 224 px, of the 28 px Fashion-MNIST network and of some
// MobileNetV2 layers, in processor time of one thread. Not a test: numbers depend on the machine.
//
//   conquer-bench [level] [milliseconds per layer] [filter]
//
//===------------------------------------------------------------------------------------------===//
#include "conquer-opt/kernels/cq_kernels.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
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

/// Multiply-accumulates per second of 12 independent chains of one instruction.
double vnniPeak() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512vnni")) {
    const long rounds = 100000;
    const double start = seconds();
    asm volatile("mov %0, %%rcx\n"
                 "1:\n"
                 ".irp r,0,1,2,3,4,5,6,7,8,9,10,11\n"
                 "vpdpbusd %%zmm30, %%zmm31, %%zmm\\r\n"
                 ".endr\n"
                 "dec %%rcx\n"
                 "jnz 1b\n"
                 :
                 : "r"(rounds)
                 : "rcx", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",
                   "xmm8", "xmm9", "xmm10", "xmm11");
    return static_cast<double>(rounds) * 12 * 64 / (seconds() - start);
  }
#endif
  return 0;
}

double fmaPeak() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) {
    const long rounds = 100000;
    const double start = seconds();
    asm volatile("vpxord %%zmm30, %%zmm30, %%zmm30\n"
                 "vpxord %%zmm31, %%zmm31, %%zmm31\n"
                 "mov %0, %%rcx\n"
                 "1:\n"
                 ".irp r,0,1,2,3,4,5,6,7,8,9,10,11\n"
                 "vfmadd231ps %%zmm30, %%zmm31, %%zmm\\r\n"
                 ".endr\n"
                 "dec %%rcx\n"
                 "jnz 1b\n"
                 :
                 : "r"(rounds)
                 : "rcx", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",
                   "xmm8", "xmm9", "xmm10", "xmm11", "xmm30", "xmm31");
    return static_cast<double>(rounds) * 12 * 16 / (seconds() - start);
  }
#endif
  return 0;
}

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

struct Result {
  double i8, f32; ///< seconds
};

Result measure(const cq_level &level, const Layer &layer, double budget) {
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
  const size_t inputs = static_cast<size_t>(p.in_h * p.in_w) * static_cast<size_t>(p.in_c);
  const size_t outputs = static_cast<size_t>(p.out_h * p.out_w) * static_cast<size_t>(p.out_c);
  const size_t products =
      static_cast<size_t>(p.kernel_h * p.kernel_w * (layer.depthwise ? 1 : p.in_c));
  const size_t weights = products * static_cast<size_t>(p.out_c);
  const size_t outC = static_cast<size_t>(p.out_c);
  const double macs = static_cast<double>(outputs) * static_cast<double>(products);

  Tensor<int8_t> input(inputs), raw(weights), output(outputs);
  Tensor<int8_t> packed((layer.depthwise ? level.depthwise_i8_size : level.conv2d_i8_size)(&p));
  Tensor<int32_t> bias(outC), packedBias(outC);
  Tensor<float> scale(outC), inputF32(inputs), rawF32(weights), outputF32(outputs), biasF32(outC);
  Tensor<float> packedF32((layer.depthwise ? level.depthwise_f32_size : level.conv2d_f32_size)(&p));
  std::fill(scale.data, scale.data + outC, 1e-4f);
  (layer.depthwise ? level.depthwise_i8_pack : level.conv2d_i8_pack)(raw.data, bias.data, &p,
                                                                     packed.data, packedBias.data);
  (layer.depthwise ? level.depthwise_f32_pack : level.conv2d_f32_pack)(rawF32.data, &p,
                                                                       packedF32.data);
  double vnni = 0, fma = 0;
  const double i8 = bestTime(
      [&] {
        (layer.depthwise ? level.depthwise_i8_i8 : level.conv2d_i8_i8)(
            input.data, packed.data, packedBias.data, scale.data, &p, output.data, 0, 1);
      },
      budget, vnniPeak, vnni);
  const double f32 = bestTime(
      [&] {
        (layer.depthwise ? level.depthwise_f32 : level.conv2d_f32)(
            inputF32.data, packedF32.data, biasF32.data, &p, outputF32.data, 0, 1);
      },
      budget, fmaPeak, fma);
  std::printf("%-9s %dx %-5s %3d px %4d -> %4d  %dx%d/%d | i8 %8.3f ms %6.1f GMAC/s %5.1f %% | "
              "f32 %8.3f ms %6.1f GMAC/s %5.1f %%\n",
              layer.network, layer.count, layer.depthwise ? "dw" : "conv", layer.size, layer.inC,
              layer.outC, layer.kernel, layer.kernel, layer.stride, i8 * 1e3, macs / i8 / 1e9,
              vnni > 0 ? 100 * macs / i8 / vnni : 0, f32 * 1e3, macs / f32 / 1e9,
              fma > 0 ? 100 * macs / f32 / fma : 0);
  std::fflush(stdout);
  return {i8, f32};
}

} // namespace

int main(int argc, char **argv) {
  const std::string name = argc > 1 ? argv[1] : "avx512vnni";
  const double budget = argc > 2 ? std::atof(argv[2]) / 1e3 : 0.05;
  const std::string filter = argc > 3 ? argv[3] : "";
  const cq_level *level = cq_find_level(name.c_str());
  if (!level) {
    std::fprintf(stderr, "no kernel level \"%s\" in this build; known:", name.c_str());
    for (const cq_level *const *known = cq_levels(); *known; ++known)
      std::fprintf(stderr, " %s", (*known)->name);
    std::fprintf(stderr, "\n");
    return 1;
  }
  std::printf("peaks: vpdpbusd %.1f, f32 FMA %.1f GMAC/s\n", vnniPeak() / 1e9, fmaPeak() / 1e9);
  for (const char *network : {"resnet18", "fashion", "mobilenet"}) {
    Result total = {0, 0};
    for (const Layer &layer : layers) {
      if (layer.network != std::string(network) ||
          std::string(network).find(filter) == std::string::npos)
        continue;
      const Result result = measure(*level, layer, budget);
      total.i8 += layer.count * result.i8;
      total.f32 += layer.count * result.f32;
    }
    std::printf("%s, layers listed times their count: i8 %.3f ms, f32 %.3f ms\n\n", network,
                total.i8 * 1e3, total.f32 * 1e3);
  }
}
