/* Five-point stencil on the GPU: a sweep over n x n points, timed by events on the device.

   nvcc -O3 -arch=native -DBLOCK_X=32 -DBLOCK_Y=8 -DROWS=4 stencil.cu -o stencil
   ./stencil 4096 20

   Prints the device, the milliseconds of each sweep, and the largest deviation from the sweep on the
   host. Exit code 3: there is no device; 4: the result is wrong. */
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

#ifndef BLOCK_X
#define BLOCK_X 32 /* threads of a block along a row */
#endif
#ifndef BLOCK_Y
#define BLOCK_Y 8 /* threads of a block across rows */
#endif
#ifndef ROWS
#define ROWS 1 /* rows of a thread */
#endif

static void check(cudaError_t status, const char *what)
{
    if (status == cudaSuccess)
        return;
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
    exit(status == cudaErrorNoDevice || status == cudaErrorInsufficientDriver ? 3 : 1);
}

__global__ void sweep(const float *__restrict__ u, float *__restrict__ v, int n)
{
    const int i = 1 + blockIdx.x * BLOCK_X + threadIdx.x;
    const int first = 1 + (blockIdx.y * BLOCK_Y + threadIdx.y) * ROWS;
    if (i >= n - 1)
        return;
#pragma unroll
    for (int row = 0; row < ROWS; row++) {
        const int j = first + row;
        if (j < n - 1) {
            const size_t at = (size_t)j * n + i;
            v[at] = 0.25f * (u[at - 1] + u[at + 1] + u[at - n] + u[at + n]);
        }
    }
}

int main(int argc, char **argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 4096;
    const int sweeps = argc > 2 ? atoi(argv[2]) : 20;
    const size_t points = (size_t)n * n;
    int devices = 0;
    check(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
    cudaDeviceProp device;
    check(cudaGetDeviceProperties(&device, 0), "cudaGetDeviceProperties");
    printf("device %s\n", device.name);

    std::vector<float> u(points), v(points, 0.0f);
    for (size_t k = 0; k < points; k++)
        u[k] = (float)((k * 2654435761u) % 1000) / 1000.0f;
    float *from, *to;
    check(cudaMalloc(&from, points * sizeof(float)), "cudaMalloc");
    check(cudaMalloc(&to, points * sizeof(float)), "cudaMalloc");
    check(cudaMemcpy(from, u.data(), points * sizeof(float), cudaMemcpyHostToDevice), "copy");
    check(cudaMemset(to, 0, points * sizeof(float)), "cudaMemset");

    const dim3 block(BLOCK_X, BLOCK_Y);
    const dim3 grid((n - 2 + BLOCK_X - 1) / BLOCK_X,
                    (n - 2 + BLOCK_Y * ROWS - 1) / (BLOCK_Y * ROWS));
    cudaEvent_t begin, end;
    check(cudaEventCreate(&begin), "cudaEventCreate");
    check(cudaEventCreate(&end), "cudaEventCreate");
    for (int k = -2; k < sweeps; k++) { /* two sweeps to warm up */
        float milliseconds;
        check(cudaEventRecord(begin), "cudaEventRecord");
        sweep<<<grid, block>>>(from, to, n);
        check(cudaGetLastError(), "launch");
        check(cudaEventRecord(end), "cudaEventRecord");
        check(cudaEventSynchronize(end), "cudaEventSynchronize");
        check(cudaEventElapsedTime(&milliseconds, begin, end), "cudaEventElapsedTime");
        if (k >= 0)
            printf("kernel_ms %.6f\n", milliseconds);
    }
    check(cudaMemcpy(v.data(), to, points * sizeof(float), cudaMemcpyDeviceToHost), "copy");

    double worst = 0.0;
    for (int j = 1; j < n - 1; j++)
        for (int i = 1; i < n - 1; i++) {
            const size_t at = (size_t)j * n + i;
            const float right = 0.25f * (u[at - 1] + u[at + 1] + u[at - n] + u[at + n]);
            worst = fmax(worst, fabs((double)v[at] - right));
        }
    printf("deviation %.3g\n", worst);
    return worst < 1e-6 ? 0 : 4;
}
