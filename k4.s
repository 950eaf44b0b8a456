	.file	"unit.c"
	.text
	.p2align 4
	.globl	sweep_rhs_lc_wave1d_4
	.type	sweep_rhs_lc_wave1d_4, @function
sweep_rhs_lc_wave1d_4:
.LFB0:
	.cfi_startproc
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset 6, -16
	movl	$4, %eax
	movq	%rsp, %rbp
	.cfi_def_cfa_register 6
	pushq	%r15
	pushq	%r14
	pushq	%r13
	pushq	%r12
	pushq	%rbx
	andq	$-64, %rsp
	subq	$136, %rsp
	cmpq	%rax, %rdi
	.cfi_offset 15, -24
	.cfi_offset 14, -32
	.cfi_offset 13, -40
	.cfi_offset 12, -48
	.cfi_offset 3, -56
	cmovl	%rax, %rdi
	movq	56(%rbp), %rax
	movq	%r8, -64(%rsp)
	movq	24(%rbp), %r11
	movq	16(%rbp), %r8
	movq	%rdx, -48(%rsp)
	movq	%rcx, -56(%rsp)
	movq	%r9, -72(%rsp)
	movq	32(%rbp), %r12
	movq	40(%rbp), %r14
	subq	$4, %rax
	movq	48(%rbp), %r10
	cmpq	%rsi, %rax
	cmovle	%rax, %rsi
	movq	%rsi, -96(%rsp)
	cmpq	%rdi, %rsi
	jle	.L19
	vmovsd	.LC0(%rip), %xmm2
	movq	%rsi, %rax
	movq	%rdi, -88(%rsp)
	subq	%rdi, %rax
	movq	%rax, -80(%rsp)
	decq	%rax
	vdivsd	%xmm0, %xmm2, %xmm0
	cmpq	$6, %rax
	jbe	.L9
	leaq	0(,%rdi,8), %rax
	vbroadcastsd	%xmm1, %zmm11
	vbroadcastsd	%xmm0, %zmm12
	leaq	24(%r12,%rax), %rdx
	leaq	16(%r11,%rax), %rcx
	leaq	-8(%r8,%rax), %rsi
	leaq	24(%r8,%rax), %r15
	movq	%rdx, 96(%rsp)
	leaq	32(%r12,%rax), %rdx
	movq	%rcx, 56(%rsp)
	leaq	32(%r11,%rax), %rcx
	movq	%rdx, 104(%rsp)
	leaq	-8(%r14,%rax), %rdx
	movq	%rcx, 72(%rsp)
	leaq	8(%r12,%rax), %rcx
	vmovq	%rdx, %xmm15
	leaq	24(%r14,%rax), %rdx
	movq	%rsi, 8(%rsp)
	movq	%r15, 32(%rsp)
	movq	%rdx, 128(%rsp)
	leaq	32(%r14,%rax), %rdx
	leaq	32(%r8,%rax), %r15
	leaq	24(%r11,%rax), %rsi
	vmovq	%rdx, %xmm13
	leaq	(%r10,%rax), %rdx
	movq	%rcx, 80(%rsp)
	leaq	16(%r12,%rax), %rcx
	vmovq	%rdx, %xmm6
	movq	-48(%rsp), %rdx
	leaq	16(%r8,%rax), %r9
	movq	%r15, 40(%rsp)
	movq	%rsi, 64(%rsp)
	leaq	8(%r11,%rax), %r15
	leaq	-8(%r12,%rax), %rsi
	movq	%rcx, 88(%rsp)
	leaq	-24(%r12,%rax), %rcx
	leaq	8(%r8,%rax), %rbx
	movq	%r9, 24(%rsp)
	movq	%r15, 48(%rsp)
	leaq	-24(%r8,%rax), %r9
	leaq	-16(%r11,%rax), %r15
	vmovq	%rsi, %xmm16
	vmovq	%rcx, %xmm14
	addq	%rax, %rdx
	leaq	8(%r14,%rax), %rsi
	leaq	16(%r14,%rax), %rcx
	vmovupd	-32(%r8,%rax), %zmm5
	movq	%rdx, (%rsp)
	movq	-56(%rsp), %rdx
	vmovupd	-32(%r11,%rax), %zmm2
	movq	%rbx, 16(%rsp)
	movq	%r9, -104(%rsp)
	leaq	-16(%r8,%rax), %rbx
	movq	%r15, -40(%rsp)
	movq	%rsi, 112(%rsp)
	leaq	-24(%r11,%rax), %r15
	movq	%rcx, 120(%rsp)
	leaq	-24(%r14,%rax), %rcx
	leaq	-8(%r11,%rax), %r13
	vmovupd	-32(%r12,%rax), %zmm4
	leaq	-16(%r12,%rax), %r9
	leaq	-16(%r14,%rax), %rsi
	vmovq	%xmm14, %r8
	addq	%rax, %rdx
	vmovupd	-32(%r14,%rax), %zmm3
	vmovq	%xmm16, %r10
	movq	%rbx, %r14
	movq	%rdx, -8(%rsp)
	movq	-64(%rsp), %rdx
	movq	%r15, %rbx
	vmovq	%xmm6, %r15
	addq	%rax, %rdx
	movq	%rdx, -16(%rsp)
	movq	-72(%rsp), %rdx
	addq	%rax, %rdx
	xorl	%eax, %eax
	movq	%rdx, -24(%rsp)
	movq	-80(%rsp), %rdx
	shrq	$3, %rdx
	salq	$6, %rdx
	movq	%rdx, -32(%rsp)
	vbroadcastsd	.LC2(%rip), %zmm10
	vmovsd	%xmm0, -112(%rsp)
	vmovapd	%zmm11, %zmm0
	movq	%rdi, -120(%rsp)
	vmovapd	%zmm12, %zmm11
	vmovq	%xmm15, %rdi
	vmovapd	%zmm0, %zmm12
	movq	-40(%rsp), %r11
	movq	%rcx, -40(%rsp)
	movq	-104(%rsp), %r12
	vmovsd	%xmm1, -104(%rsp)
	vbroadcastsd	.LC4(%rip), %zmm9
	vbroadcastsd	.LC6(%rip), %zmm8
	vbroadcastsd	.LC8(%rip), %zmm7
	vbroadcastsd	.LC10(%rip), %zmm31
	vbroadcastsd	.LC12(%rip), %zmm30
	vbroadcastsd	.LC14(%rip), %zmm29
	vbroadcastsd	.LC16(%rip), %zmm28
	vbroadcastsd	.LC18(%rip), %zmm27
	vbroadcastsd	.LC20(%rip), %zmm26
	vbroadcastsd	.LC22(%rip), %zmm25
	vbroadcastsd	.LC24(%rip), %zmm24
	vbroadcastsd	.LC26(%rip), %zmm23
	vbroadcastsd	.LC28(%rip), %zmm22
	vbroadcastsd	.LC30(%rip), %zmm21
	vbroadcastsd	.LC32(%rip), %zmm20
	vbroadcastsd	.LC34(%rip), %zmm19
	vbroadcastsd	.LC36(%rip), %zmm18
	vbroadcastsd	.LC38(%rip), %zmm17
	jmp	.L4
	.p2align 4
	.p2align 3
.L10:
	vmovapd	%zmm14, %zmm5
	vmovapd	%zmm6, %zmm2
	vmovapd	%zmm16, %zmm4
	vmovapd	%zmm15, %zmm3
.L4:
	movq	8(%rsp), %rcx
	movq	16(%rsp), %rdx
	vmovupd	(%r14,%rax), %zmm0
	vmovupd	(%rbx,%rax), %zmm6
	vmovupd	(%rcx,%rax), %zmm1
	vsubpd	(%rdx,%rax), %zmm1, %zmm1
	movq	24(%rsp), %rdx
	vsubpd	(%rdx,%rax), %zmm0, %zmm0
	movq	32(%rsp), %rdx
	vmulpd	%zmm10, %zmm0, %zmm0
	vfmadd231pd	%zmm9, %zmm1, %zmm0
	vmovupd	(%r12,%rax), %zmm1
	vsubpd	(%rdx,%rax), %zmm1, %zmm1
	movq	40(%rsp), %rdx
	vmovupd	(%rdx,%rax), %zmm14
	movq	48(%rsp), %rdx
	vfnmadd132pd	%zmm8, %zmm0, %zmm1
	vmovupd	0(%r13,%rax), %zmm0
	vsubpd	%zmm14, %zmm5, %zmm5
	vfmadd132pd	%zmm7, %zmm1, %zmm5
	vmulpd	%zmm5, %zmm11, %zmm1
	vsubpd	(%rdx,%rax), %zmm0, %zmm5
	movq	56(%rsp), %rdx
	vmovupd	(%r11,%rax), %zmm0
	vsubpd	(%rdx,%rax), %zmm0, %zmm0
	movq	64(%rsp), %rdx
	vmulpd	%zmm10, %zmm0, %zmm0
	vfmadd231pd	%zmm9, %zmm5, %zmm0
	vsubpd	(%rdx,%rax), %zmm6, %zmm5
	movq	72(%rsp), %rdx
	vmovupd	(%rdx,%rax), %zmm6
	movq	80(%rsp), %rdx
	vfnmadd132pd	%zmm8, %zmm0, %zmm5
	vmovupd	(%r10,%rax), %zmm0
	vsubpd	(%rdx,%rax), %zmm0, %zmm0
	movq	88(%rsp), %rdx
	vsubpd	%zmm6, %zmm2, %zmm2
	vfmadd132pd	%zmm7, %zmm5, %zmm2
	vmovupd	(%r9,%rax), %zmm5
	vmulpd	%zmm11, %zmm2, %zmm2
	vsubpd	(%rdx,%rax), %zmm5, %zmm5
	movq	96(%rsp), %rdx
	vmulpd	%zmm10, %zmm5, %zmm5
	vfmadd231pd	%zmm9, %zmm0, %zmm5
	vmovupd	(%r8,%rax), %zmm0
	vsubpd	(%rdx,%rax), %zmm0, %zmm0
	movq	104(%rsp), %rdx
	movq	-40(%rsp), %rcx
	vmovupd	(%rdx,%rax), %zmm16
	movq	112(%rsp), %rdx
	vfnmadd132pd	%zmm8, %zmm5, %zmm0
	vsubpd	%zmm16, %zmm4, %zmm4
	vfmadd132pd	%zmm7, %zmm0, %zmm4
	vmulpd	%zmm11, %zmm4, %zmm0
	vmovupd	(%rdi,%rax), %zmm4
	vsubpd	(%rdx,%rax), %zmm4, %zmm5
	movq	120(%rsp), %rdx
	vmovupd	(%rsi,%rax), %zmm4
	vsubpd	(%rdx,%rax), %zmm4, %zmm4
	movq	128(%rsp), %rdx
	vmulpd	%zmm10, %zmm4, %zmm4
	vfmadd231pd	%zmm9, %zmm5, %zmm4
	vmovupd	(%rcx,%rax), %zmm5
	vsubpd	(%rdx,%rax), %zmm5, %zmm5
	vmovq	%xmm13, %rdx
	vmovupd	(%rdx,%rax), %zmm15
	movq	(%rsp), %rdx
	vsubpd	%zmm15, %zmm3, %zmm3
	vfnmadd132pd	%zmm8, %zmm4, %zmm5
	vmulpd	%zmm31, %zmm2, %zmm4
	vfmadd132pd	%zmm7, %zmm5, %zmm3
	vmulpd	%zmm3, %zmm11, %zmm3
	vfmadd231pd	%zmm30, %zmm1, %zmm4
	vfmadd231pd	%zmm29, %zmm0, %zmm4
	vfmadd231pd	%zmm28, %zmm3, %zmm4
	vfmadd213pd	(%r15,%rax), %zmm12, %zmm4
	vmovupd	%zmm4, (%rdx,%rax)
	movq	-8(%rsp), %rdx
	vmulpd	%zmm27, %zmm2, %zmm4
	vfmadd231pd	%zmm26, %zmm1, %zmm4
	vfmadd231pd	%zmm25, %zmm0, %zmm4
	vfmadd231pd	%zmm24, %zmm3, %zmm4
	vfmadd213pd	(%r15,%rax), %zmm12, %zmm4
	vmovupd	%zmm4, (%rdx,%rax)
	movq	-16(%rsp), %rdx
	vmulpd	%zmm23, %zmm2, %zmm4
	vmulpd	%zmm19, %zmm2, %zmm2
	vfmadd231pd	%zmm22, %zmm1, %zmm4
	vfmadd231pd	%zmm21, %zmm0, %zmm4
	vfmadd231pd	%zmm20, %zmm3, %zmm4
	vfmadd213pd	(%r15,%rax), %zmm12, %zmm4
	vmovupd	%zmm4, (%rdx,%rax)
	movq	-24(%rsp), %rdx
	vfmadd132pd	%zmm18, %zmm2, %zmm1
	vfmadd132pd	%zmm17, %zmm1, %zmm0
	vfmadd132pd	.LC39(%rip), %zmm0, %zmm3
	vfmadd213pd	(%r15,%rax), %zmm12, %zmm3
	vmovupd	%zmm3, (%rdx,%rax)
	movq	-32(%rsp), %rdx
	addq	$64, %rax
	cmpq	%rdx, %rax
	jne	.L10
	movq	-80(%rsp), %rcx
	movq	-120(%rsp), %rdi
	vmovsd	-112(%rsp), %xmm0
	vmovsd	-104(%rsp), %xmm1
	movq	16(%rbp), %r8
	movq	24(%rbp), %r11
	movq	32(%rbp), %r12
	movq	40(%rbp), %r14
	movq	%rcx, %rax
	movq	48(%rbp), %r10
	andq	$-8, %rax
	addq	%rax, %rdi
	andl	$7, %ecx
	je	.L18
.L3:
	movq	-80(%rsp), %rdx
	subq	%rax, %rdx
	leaq	-1(%rdx), %rcx
	cmpq	$2, %rcx
	jbe	.L6
	movq	-88(%rsp), %rbx
	vbroadcastsd	.LC2(%rip), %ymm12
	vbroadcastsd	%xmm0, %ymm2
	vbroadcastsd	%xmm1, %ymm7
	vbroadcastsd	.LC4(%rip), %ymm11
	vbroadcastsd	.LC6(%rip), %ymm10
	vbroadcastsd	.LC8(%rip), %ymm9
	addq	%rbx, %rax
	salq	$3, %rax
	vmovupd	-8(%r8,%rax), %ymm3
	vmovupd	-32(%r8,%rax), %ymm6
	vsubpd	8(%r8,%rax), %ymm3, %ymm4
	vmovupd	-16(%r8,%rax), %ymm3
	vsubpd	16(%r8,%rax), %ymm3, %ymm3
	vmovupd	-16(%r14,%rax), %ymm13
	vmulpd	%ymm12, %ymm3, %ymm3
	vfmadd132pd	%ymm11, %ymm3, %ymm4
	vmovupd	-24(%r8,%rax), %ymm3
	vsubpd	24(%r8,%rax), %ymm3, %ymm3
	vfnmadd132pd	%ymm10, %ymm4, %ymm3
	vsubpd	32(%r8,%rax), %ymm6, %ymm4
	vmovupd	-32(%r11,%rax), %ymm6
	vfmadd132pd	%ymm9, %ymm3, %ymm4
	vmovupd	-8(%r11,%rax), %ymm3
	vsubpd	8(%r11,%rax), %ymm3, %ymm5
	vmovupd	-16(%r11,%rax), %ymm3
	vsubpd	16(%r11,%rax), %ymm3, %ymm3
	vmulpd	%ymm2, %ymm4, %ymm4
	vmulpd	%ymm12, %ymm3, %ymm3
	vfmadd132pd	%ymm11, %ymm3, %ymm5
	vmovupd	-24(%r11,%rax), %ymm3
	vsubpd	24(%r11,%rax), %ymm3, %ymm3
	vfnmadd132pd	%ymm10, %ymm5, %ymm3
	vsubpd	32(%r11,%rax), %ymm6, %ymm5
	vmovupd	-16(%r12,%rax), %ymm6
	vsubpd	16(%r12,%rax), %ymm6, %ymm6
	vfmadd132pd	%ymm9, %ymm3, %ymm5
	vmovupd	-8(%r12,%rax), %ymm3
	vsubpd	8(%r12,%rax), %ymm3, %ymm3
	vmulpd	%ymm12, %ymm6, %ymm6
	vmulpd	%ymm5, %ymm2, %ymm5
	vfmadd132pd	%ymm11, %ymm6, %ymm3
	vmovupd	-24(%r12,%rax), %ymm6
	vsubpd	24(%r12,%rax), %ymm6, %ymm6
	vfnmadd132pd	%ymm10, %ymm3, %ymm6
	vmovupd	-32(%r12,%rax), %ymm3
	vsubpd	32(%r12,%rax), %ymm3, %ymm3
	vfmadd132pd	%ymm9, %ymm6, %ymm3
	vmovupd	-8(%r14,%rax), %ymm6
	vsubpd	8(%r14,%rax), %ymm6, %ymm6
	vsubpd	16(%r14,%rax), %ymm13, %ymm8
	vmovupd	-24(%r14,%rax), %ymm13
	movq	-48(%rsp), %rbx
	movq	-56(%rsp), %rcx
	vmulpd	%ymm3, %ymm2, %ymm3
	vmulpd	%ymm12, %ymm8, %ymm8
	vfmadd132pd	%ymm11, %ymm8, %ymm6
	vsubpd	24(%r14,%rax), %ymm13, %ymm8
	vfnmadd132pd	%ymm10, %ymm6, %ymm8
	vmovupd	-32(%r14,%rax), %ymm6
	vsubpd	32(%r14,%rax), %ymm6, %ymm6
	vfmadd132pd	%ymm9, %ymm8, %ymm6
	vmulpd	%ymm6, %ymm2, %ymm2
	vmulpd	.LC10(%rip){1to4}, %ymm5, %ymm6
	vfmadd231pd	.LC12(%rip){1to4}, %ymm4, %ymm6
	vfmadd231pd	.LC14(%rip){1to4}, %ymm3, %ymm6
	vfmadd231pd	.LC16(%rip){1to4}, %ymm2, %ymm6
	vfmadd213pd	(%r10,%rax), %ymm7, %ymm6
	vmovupd	%ymm6, (%rbx,%rax)
	vmulpd	.LC18(%rip){1to4}, %ymm5, %ymm6
	movq	-64(%rsp), %rbx
	vfmadd231pd	.LC20(%rip){1to4}, %ymm4, %ymm6
	vfmadd231pd	.LC22(%rip){1to4}, %ymm3, %ymm6
	vfmadd231pd	.LC24(%rip){1to4}, %ymm2, %ymm6
	vfmadd213pd	(%r10,%rax), %ymm7, %ymm6
	vmovupd	%ymm6, (%rcx,%rax)
	vmulpd	.LC26(%rip){1to4}, %ymm5, %ymm6
	movq	-72(%rsp), %rcx
	vmulpd	.LC34(%rip){1to4}, %ymm5, %ymm5
	vfmadd231pd	.LC28(%rip){1to4}, %ymm4, %ymm6
	vfmadd132pd	.LC36(%rip){1to4}, %ymm5, %ymm4
	vfmadd231pd	.LC30(%rip){1to4}, %ymm3, %ymm6
	vfmadd132pd	.LC38(%rip){1to4}, %ymm4, %ymm3
	vfmadd231pd	.LC32(%rip){1to4}, %ymm2, %ymm6
	vfmadd213pd	(%r10,%rax), %ymm7, %ymm6
	vfmadd132pd	.LC40(%rip){1to4}, %ymm3, %ymm2
	vfmadd213pd	(%r10,%rax), %ymm2, %ymm7
	vmovupd	%ymm6, (%rbx,%rax)
	vmovupd	%ymm7, (%rcx,%rax)
	movq	%rdx, %rax
	andq	$-4, %rax
	addq	%rax, %rdi
	andl	$3, %edx
	je	.L18
.L6:
	leaq	0(,%rdi,8), %r9
	vmovsd	.LC2(%rip), %xmm11
	vmovsd	.LC4(%rip), %xmm10
	leaq	(%r14,%r9), %rcx
	leaq	(%r12,%r9), %rdx
	leaq	(%r11,%r9), %rax
	addq	%r8, %r9
	vmovsd	24(%rax), %xmm18
	vmovsd	24(%r9), %xmm16
	movq	-32(%rcx), %rsi
	vmovsd	8(%rcx), %xmm29
	vmovsd	16(%rcx), %xmm28
	vmovsd	24(%rcx), %xmm27
	vmovsd	-24(%rcx), %xmm25
	vmovsd	-16(%rcx), %xmm24
	vmovsd	8(%rdx), %xmm7
	vmovsd	16(%rdx), %xmm23
	vmovsd	24(%rdx), %xmm22
	vmovsd	-32(%rdx), %xmm2
	movq	%rsi, 112(%rsp)
	vmovsd	-24(%rdx), %xmm21
	vmovsd	-16(%rdx), %xmm20
	vmovsd	8(%rax), %xmm5
	vmovsd	16(%rax), %xmm19
	vmovsd	-32(%rax), %xmm4
	vmovsd	%xmm18, 128(%rsp)
	vmovsd	%xmm16, 120(%rsp)
	vmovsd	-24(%rax), %xmm14
	vmovsd	-16(%rax), %xmm17
	vmovsd	8(%r9), %xmm6
	vmovsd	16(%r9), %xmm13
	vmovsd	-32(%r9), %xmm3
	vmovsd	-24(%r9), %xmm12
	vmovsd	-16(%r9), %xmm15
	vmovsd	.LC6(%rip), %xmm9
	vmovsd	.LC8(%rip), %xmm8
	movq	-96(%rsp), %rcx
	movq	-48(%rsp), %r9
	movq	-56(%rsp), %r13
	movq	-64(%rsp), %rax
	movq	-72(%rsp), %rdx
	jmp	.L8
	.p2align 4
	.p2align 3
.L11:
	vmovq	%r15, %xmm15
	vmovsd	%xmm18, 120(%rsp)
	vmovq	%rbx, %xmm17
	vmovsd	%xmm16, 128(%rsp)
	vmovq	%rsi, %xmm20
	vmovsd	%xmm26, %xmm26, %xmm22
	vmovsd	%xmm31, %xmm31, %xmm24
	vmovsd	%xmm30, %xmm30, %xmm27
.L8:
	movq	-8(%r8,%rdi,8), %r15
	vsubsd	%xmm13, %xmm15, %xmm30
	vmovsd	32(%r8,%rdi,8), %xmm18
	movq	-8(%r11,%rdi,8), %rbx
	vmovsd	32(%r11,%rdi,8), %xmm16
	movq	-8(%r12,%rdi,8), %rsi
	vmulsd	%xmm11, %xmm30, %xmm30
	vmovq	%r15, %xmm26
	vsubsd	%xmm6, %xmm26, %xmm6
	vmovq	%rbx, %xmm31
	vsubsd	%xmm5, %xmm31, %xmm5
	vmovq	%rsi, %xmm26
	vmovsd	-8(%r14,%rdi,8), %xmm31
	vsubsd	%xmm7, %xmm26, %xmm7
	vmovsd	32(%r12,%rdi,8), %xmm26
	vfmadd231sd	%xmm10, %xmm6, %xmm30
	vsubsd	120(%rsp), %xmm12, %xmm6
	vsubsd	%xmm18, %xmm3, %xmm3
	vsubsd	%xmm16, %xmm4, %xmm4
	vsubsd	%xmm29, %xmm31, %xmm29
	vsubsd	%xmm26, %xmm2, %xmm2
	vfnmadd132sd	%xmm9, %xmm30, %xmm6
	vmovsd	32(%r14,%rdi,8), %xmm30
	vfmadd132sd	%xmm8, %xmm6, %xmm3
	vsubsd	%xmm19, %xmm17, %xmm6
	vmulsd	%xmm11, %xmm6, %xmm6
	vmulsd	%xmm3, %xmm0, %xmm3
	vfmadd231sd	%xmm10, %xmm5, %xmm6
	vsubsd	128(%rsp), %xmm14, %xmm5
	vfnmadd132sd	%xmm9, %xmm6, %xmm5
	vmovsd	(%r10,%rdi,8), %xmm6
	vfmadd132sd	%xmm8, %xmm5, %xmm4
	vsubsd	%xmm23, %xmm20, %xmm5
	vmulsd	%xmm11, %xmm5, %xmm5
	vmulsd	%xmm4, %xmm0, %xmm4
	vfmadd231sd	%xmm10, %xmm7, %xmm5
	vsubsd	%xmm22, %xmm21, %xmm7
	vfnmadd132sd	%xmm9, %xmm5, %xmm7
	vsubsd	%xmm28, %xmm24, %xmm5
	vmulsd	%xmm11, %xmm5, %xmm5
	vfmadd132sd	%xmm8, %xmm7, %xmm2
	vmovsd	112(%rsp), %xmm7
	vfmadd231sd	%xmm10, %xmm29, %xmm5
	vsubsd	%xmm27, %xmm25, %xmm29
	vmulsd	%xmm2, %xmm0, %xmm2
	vfnmadd132sd	%xmm9, %xmm5, %xmm29
	vsubsd	%xmm30, %xmm7, %xmm5
	vmulsd	.LC10(%rip), %xmm4, %xmm7
	vfmadd231sd	.LC12(%rip), %xmm3, %xmm7
	vfmadd132sd	%xmm8, %xmm29, %xmm5
	vmovsd	%xmm28, %xmm28, %xmm29
	vmovsd	%xmm27, %xmm27, %xmm28
	vfmadd231sd	.LC14(%rip), %xmm2, %xmm7
	vmulsd	%xmm5, %xmm0, %xmm5
	vfmadd231sd	.LC16(%rip), %xmm5, %xmm7
	vfmadd132sd	%xmm1, %xmm6, %xmm7
	vmovsd	%xmm7, (%r9,%rdi,8)
	vmulsd	.LC18(%rip), %xmm4, %xmm7
	vfmadd231sd	.LC20(%rip), %xmm3, %xmm7
	vfmadd231sd	.LC22(%rip), %xmm2, %xmm7
	vfmadd231sd	.LC24(%rip), %xmm5, %xmm7
	vfmadd132sd	%xmm1, %xmm6, %xmm7
	vmovsd	%xmm7, 0(%r13,%rdi,8)
	vmulsd	.LC26(%rip), %xmm4, %xmm7
	vmulsd	.LC34(%rip), %xmm4, %xmm4
	vfmadd231sd	.LC28(%rip), %xmm3, %xmm7
	vfmadd132sd	.LC36(%rip), %xmm4, %xmm3
	vmovsd	%xmm14, %xmm14, %xmm4
	vmovsd	%xmm17, %xmm17, %xmm14
	vfmadd231sd	.LC30(%rip), %xmm2, %xmm7
	vfmadd132sd	.LC38(%rip), %xmm3, %xmm2
	vmovsd	%xmm12, %xmm12, %xmm3
	vmovsd	%xmm15, %xmm15, %xmm12
	vfmadd231sd	.LC32(%rip), %xmm5, %xmm7
	vfmadd132sd	.LC40(%rip), %xmm2, %xmm5
	vmovsd	%xmm21, %xmm21, %xmm2
	vmovsd	%xmm20, %xmm20, %xmm21
	vfmadd132sd	%xmm1, %xmm6, %xmm7
	vfmadd132sd	%xmm1, %xmm6, %xmm5
	vmovsd	%xmm13, %xmm13, %xmm6
	vmovsd	%xmm7, (%rax,%rdi,8)
	vmovsd	%xmm5, (%rdx,%rdi,8)
	incq	%rdi
	vmovsd	%xmm25, 112(%rsp)
	vmovsd	%xmm23, %xmm23, %xmm7
	vmovsd	%xmm19, %xmm19, %xmm5
	vmovsd	%xmm24, %xmm24, %xmm25
	vmovsd	%xmm22, %xmm22, %xmm23
	vmovsd	128(%rsp), %xmm19
	vmovsd	120(%rsp), %xmm13
	cmpq	%rdi, %rcx
	jg	.L11
.L18:
	vzeroupper
.L19:
	leaq	-40(%rbp), %rsp
	popq	%rbx
	popq	%r12
	popq	%r13
	popq	%r14
	popq	%r15
	popq	%rbp
	.cfi_remember_state
	.cfi_def_cfa 7, 8
	ret
.L9:
	.cfi_restore_state
	xorl	%eax, %eax
	jmp	.L3
	.cfi_endproc
.LFE0:
	.size	sweep_rhs_lc_wave1d_4, .-sweep_rhs_lc_wave1d_4
	.section	.rodata.cst8,"aM",@progbits,8
	.align 8
.LC0:
	.long	0
	.long	-1074790400
	.align 8
.LC2:
	.long	-1717986918
	.long	1070176665
	.align 8
.LC4:
	.long	-1717986918
	.long	-1075209831
	.align 8
.LC6:
	.long	327235604
	.long	1067680056
	.align 8
.LC8:
	.long	490853405
	.long	1064124884
	.align 8
.LC10:
	.long	24654902
	.long	-1079729303
	.align 8
.LC12:
	.long	-1406635612
	.long	1069346184
	.align 8
.LC14:
	.long	1018671864
	.long	1067084784
	.align 8
.LC16:
	.long	761842480
	.long	-1081849625
	.align 8
.LC18:
	.long	-1284819095
	.long	1070234484
	.align 8
.LC20:
	.long	1983409918
	.long	1070465099
	.align 8
.LC22:
	.long	-1078809661
	.long	-1079476038
	.align 8
.LC24:
	.long	1351510239
	.long	1066430140
	.align 8
.LC26:
	.long	1847402784
	.long	1071250924
	.align 8
.LC28:
	.long	-1924382110
	.long	1070316602
	.align 8
.LC30:
	.long	1067786766
	.long	1070084697
	.align 8
.LC32:
	.long	-1765417864
	.long	-1080507599
	.align 8
.LC34:
	.long	1800204581
	.long	1071175721
	.align 8
.LC36:
	.long	293668941
	.long	1070348315
	.align 8
.LC38:
	.long	200444597
	.long	1070926793
	.section	.rodata
	.align 64
.LC39:
	.long	0
	.long	1068498944
	.long	0
	.long	1068498944
	.long	0
	.long	1068498944
	.long	0
	.long	1068498944
	.long	0
	.long	1068498944
	.long	0
	.long	1068498944
	.long	0
	.long	1068498944
	.long	0
	.long	1068498944
	.set	.LC40,.LC39
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
