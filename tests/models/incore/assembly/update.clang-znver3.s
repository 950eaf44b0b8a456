	.text
	.globl	update                          # -- Begin function update
	.p2align	4, 0x90
	.type	update,@function
update:                                 # @update
# %bb.0:
	pushq	%r14
	pushq	%rbx
	movq	%rsi, %r9
	subq	%rdi, %r9
	jle	.LBB0_12
# %bb.1:
	cmpq	$16, %r9
	jb	.LBB0_11
# %bb.2:
	movq	%r9, %r8
	andq	$-16, %r8
	vbroadcastsd	%xmm0, %ymm1
	leaq	-16(%r8), %rax
	movq	%rax, %r11
	shrq	$4, %r11
	incq	%r11
	movl	%r11d, %r10d
	andl	$7, %r10d
	cmpq	$112, %rax
	jae	.LBB0_4
# %bb.3:
	xorl	%eax, %eax
	jmp	.LBB0_6
.LBB0_4:
	leaq	992(%rcx,%rdi,8), %r14
	leaq	992(%rdx,%rdi,8), %rbx
	andq	$-8, %r11
	xorl	%eax, %eax
	.p2align	4, 0x90
.LBB0_5:                                # =>This Inner Loop Header: Depth=1
	vmovupd	-992(%r14,%rax,8), %ymm2
	vmovupd	-960(%r14,%rax,8), %ymm3
	vmovupd	-928(%r14,%rax,8), %ymm4
	vmovupd	-896(%r14,%rax,8), %ymm5
	vmovupd	-864(%r14,%rax,8), %ymm6
	vmovupd	-736(%r14,%rax,8), %ymm7
	vfmadd213pd	-992(%rbx,%rax,8), %ymm1, %ymm2 # ymm2 = (ymm1 * ymm2) + mem
	vfmadd213pd	-960(%rbx,%rax,8), %ymm1, %ymm3 # ymm3 = (ymm1 * ymm3) + mem
	vfmadd213pd	-928(%rbx,%rax,8), %ymm1, %ymm4 # ymm4 = (ymm1 * ymm4) + mem
	vfmadd213pd	-896(%rbx,%rax,8), %ymm1, %ymm5 # ymm5 = (ymm1 * ymm5) + mem
	vmovupd	%ymm2, -992(%rbx,%rax,8)
	vmovupd	%ymm3, -960(%rbx,%rax,8)
	vmovupd	%ymm4, -928(%rbx,%rax,8)
	vmovupd	%ymm5, -896(%rbx,%rax,8)
	vmovupd	-832(%r14,%rax,8), %ymm3
	vmovupd	-800(%r14,%rax,8), %ymm4
	vmovupd	-768(%r14,%rax,8), %ymm5
	vfmadd213pd	-864(%rbx,%rax,8), %ymm1, %ymm6 # ymm6 = (ymm1 * ymm6) + mem
	vfmadd213pd	-832(%rbx,%rax,8), %ymm1, %ymm3 # ymm3 = (ymm1 * ymm3) + mem
	vfmadd213pd	-800(%rbx,%rax,8), %ymm1, %ymm4 # ymm4 = (ymm1 * ymm4) + mem
	vfmadd213pd	-768(%rbx,%rax,8), %ymm1, %ymm5 # ymm5 = (ymm1 * ymm5) + mem
	vmovupd	%ymm6, -864(%rbx,%rax,8)
	vmovupd	%ymm3, -832(%rbx,%rax,8)
	vmovupd	%ymm4, -800(%rbx,%rax,8)
	vmovupd	%ymm5, -768(%rbx,%rax,8)
	vmovupd	-704(%r14,%rax,8), %ymm3
	vmovupd	-672(%r14,%rax,8), %ymm4
	vmovupd	-640(%r14,%rax,8), %ymm5
	vmovupd	-608(%r14,%rax,8), %ymm6
	vfmadd213pd	-736(%rbx,%rax,8), %ymm1, %ymm7 # ymm7 = (ymm1 * ymm7) + mem
	vfmadd213pd	-704(%rbx,%rax,8), %ymm1, %ymm3 # ymm3 = (ymm1 * ymm3) + mem
	vfmadd213pd	-672(%rbx,%rax,8), %ymm1, %ymm4 # ymm4 = (ymm1 * ymm4) + mem
	vfmadd213pd	-640(%rbx,%rax,8), %ymm1, %ymm5 # ymm5 = (ymm1 * ymm5) + mem
	vmovupd	%ymm7, -736(%rbx,%rax,8)
	vmovupd	%ymm3, -704(%rbx,%rax,8)
	vmovupd	%ymm4, -672(%rbx,%rax,8)
	vmovupd	%ymm5, -640(%rbx,%rax,8)
	vmovupd	-576(%r14,%rax,8), %ymm3
	vmovupd	-544(%r14,%rax,8), %ymm4
	vmovupd	-512(%r14,%rax,8), %ymm5
	vmovupd	-480(%r14,%rax,8), %ymm7
	vfmadd213pd	-608(%rbx,%rax,8), %ymm1, %ymm6 # ymm6 = (ymm1 * ymm6) + mem
	vfmadd213pd	-576(%rbx,%rax,8), %ymm1, %ymm3 # ymm3 = (ymm1 * ymm3) + mem
	vfmadd213pd	-544(%rbx,%rax,8), %ymm1, %ymm4 # ymm4 = (ymm1 * ymm4) + mem
	vfmadd213pd	-512(%rbx,%rax,8), %ymm1, %ymm5 # ymm5 = (ymm1 * ymm5) + mem
	vmovupd	%ymm6, -608(%rbx,%rax,8)
	vmovupd	%ymm3, -576(%rbx,%rax,8)
	vmovupd	%ymm4, -544(%rbx,%rax,8)
	vmovupd	%ymm5, -512(%rbx,%rax,8)
	vmovupd	-448(%r14,%rax,8), %ymm3
	vmovupd	-416(%r14,%rax,8), %ymm4
	vmovupd	-384(%r14,%rax,8), %ymm5
	vmovupd	-352(%r14,%rax,8), %ymm6
	vfmadd213pd	-480(%rbx,%rax,8), %ymm1, %ymm7 # ymm7 = (ymm1 * ymm7) + mem
	vfmadd213pd	-448(%rbx,%rax,8), %ymm1, %ymm3 # ymm3 = (ymm1 * ymm3) + mem
	vfmadd213pd	-416(%rbx,%rax,8), %ymm1, %ymm4 # ymm4 = (ymm1 * ymm4) + mem
	vfmadd213pd	-384(%rbx,%rax,8), %ymm1, %ymm5 # ymm5 = (ymm1 * ymm5) + mem
	vmovupd	%ymm7, -480(%rbx,%rax,8)
	vmovupd	%ymm3, -448(%rbx,%rax,8)
	vmovupd	%ymm4, -416(%rbx,%rax,8)
	vmovupd	%ymm5, -384(%rbx,%rax,8)
	vmovupd	-320(%r14,%rax,8), %ymm3
	vmovupd	-288(%r14,%rax,8), %ymm4
	vmovupd	-256(%r14,%rax,8), %ymm5
	vmovupd	-224(%r14,%rax,8), %ymm7
	vfmadd213pd	-352(%rbx,%rax,8), %ymm1, %ymm6 # ymm6 = (ymm1 * ymm6) + mem
	vfmadd213pd	-320(%rbx,%rax,8), %ymm1, %ymm3 # ymm3 = (ymm1 * ymm3) + mem
	vfmadd213pd	-288(%rbx,%rax,8), %ymm1, %ymm4 # ymm4 = (ymm1 * ymm4) + mem
	vfmadd213pd	-256(%rbx,%rax,8), %ymm1, %ymm5 # ymm5 = (ymm1 * ymm5) + mem
	vmovupd	%ymm6, -352(%rbx,%rax,8)
	vmovupd	%ymm3, -320(%rbx,%rax,8)
	vmovupd	%ymm4, -288(%rbx,%rax,8)
	vmovupd	%ymm5, -256(%rbx,%rax,8)
	vmovupd	-192(%r14,%rax,8), %ymm3
	vmovupd	-160(%r14,%rax,8), %ymm4
	vmovupd	-128(%r14,%rax,8), %ymm5
	vmovupd	-96(%r14,%rax,8), %ymm6
	vfmadd213pd	-224(%rbx,%rax,8), %ymm1, %ymm7 # ymm7 = (ymm1 * ymm7) + mem
	vfmadd213pd	-192(%rbx,%rax,8), %ymm1, %ymm3 # ymm3 = (ymm1 * ymm3) + mem
	vfmadd213pd	-160(%rbx,%rax,8), %ymm1, %ymm4 # ymm4 = (ymm1 * ymm4) + mem
	vfmadd213pd	-128(%rbx,%rax,8), %ymm1, %ymm5 # ymm5 = (ymm1 * ymm5) + mem
	vmovupd	%ymm7, -224(%rbx,%rax,8)
	vmovupd	%ymm3, -192(%rbx,%rax,8)
	vmovupd	%ymm4, -160(%rbx,%rax,8)
	vmovupd	%ymm5, -128(%rbx,%rax,8)
	vmovupd	-64(%r14,%rax,8), %ymm3
	vmovupd	-32(%r14,%rax,8), %ymm4
	vmovupd	(%r14,%rax,8), %ymm5
	vfmadd213pd	-96(%rbx,%rax,8), %ymm1, %ymm6 # ymm6 = (ymm1 * ymm6) + mem
	vfmadd213pd	-64(%rbx,%rax,8), %ymm1, %ymm3 # ymm3 = (ymm1 * ymm3) + mem
	vfmadd213pd	-32(%rbx,%rax,8), %ymm1, %ymm4 # ymm4 = (ymm1 * ymm4) + mem
	vfmadd213pd	(%rbx,%rax,8), %ymm1, %ymm5 # ymm5 = (ymm1 * ymm5) + mem
	vmovupd	%ymm6, -96(%rbx,%rax,8)
	vmovupd	%ymm3, -64(%rbx,%rax,8)
	vmovupd	%ymm4, -32(%rbx,%rax,8)
	vmovupd	%ymm5, (%rbx,%rax,8)
	subq	$-128, %rax
	addq	$-8, %r11
	jne	.LBB0_5
.LBB0_6:
	testq	%r10, %r10
	je	.LBB0_9
# %bb.7:
	addq	%rdi, %rax
	shlq	$7, %r10
	xorl	%ebx, %ebx
	leaq	96(%rcx,%rax,8), %r11
	leaq	96(%rdx,%rax,8), %rax
	.p2align	4, 0x90
.LBB0_8:                                # =>This Inner Loop Header: Depth=1
	vmovupd	-96(%r11,%rbx), %ymm2
	vmovupd	-64(%r11,%rbx), %ymm3
	vmovupd	-32(%r11,%rbx), %ymm4
	vmovupd	(%r11,%rbx), %ymm5
	vfmadd213pd	-96(%rax,%rbx), %ymm1, %ymm2 # ymm2 = (ymm1 * ymm2) + mem
	vfmadd213pd	-64(%rax,%rbx), %ymm1, %ymm3 # ymm3 = (ymm1 * ymm3) + mem
	vfmadd213pd	-32(%rax,%rbx), %ymm1, %ymm4 # ymm4 = (ymm1 * ymm4) + mem
	vfmadd213pd	(%rax,%rbx), %ymm1, %ymm5 # ymm5 = (ymm1 * ymm5) + mem
	vmovupd	%ymm2, -96(%rax,%rbx)
	vmovupd	%ymm3, -64(%rax,%rbx)
	vmovupd	%ymm4, -32(%rax,%rbx)
	vmovupd	%ymm5, (%rax,%rbx)
	subq	$-128, %rbx
	cmpq	%rbx, %r10
	jne	.LBB0_8
.LBB0_9:
	cmpq	%r8, %r9
	je	.LBB0_12
# %bb.10:
	addq	%r8, %rdi
	.p2align	4, 0x90
.LBB0_11:                               # =>This Inner Loop Header: Depth=1
	vmovsd	(%rcx,%rdi,8), %xmm1            # xmm1 = mem[0],zero
	vfmadd213sd	(%rdx,%rdi,8), %xmm0, %xmm1 # xmm1 = (xmm0 * xmm1) + mem
	vmovsd	%xmm1, (%rdx,%rdi,8)
	incq	%rdi
	cmpq	%rdi, %rsi
	jne	.LBB0_11
.LBB0_12:
	popq	%rbx
	popq	%r14
	vzeroupper
	retq
.Lfunc_end0:
	.size	update, .Lfunc_end0-update
                                        # -- End function
