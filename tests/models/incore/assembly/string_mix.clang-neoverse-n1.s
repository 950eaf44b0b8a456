	.text
	.globl	rhs_string                      // -- Begin function rhs_string
	.p2align	4
	.type	rhs_string,@function
rhs_string:                             // @rhs_string
// %bb.0:
	cmp	x0, x1
	b.ge	.LBB0_8
// %bb.1:
	ldr	d1, [x3, x0, lsl #3]
	add	x8, x0, #2
	mvn	x9, x0
	cmp	x1, x8
	csel	x8, x1, x8, gt
	add	x8, x8, x9
	cmp	x8, #4
	b.hs	.LBB0_3
// %bb.2:
	mov	x8, x0
	b	.LBB0_6
.LBB0_3:
	lsr	x8, x8, #1
	mov	w9, #2
	dup	v2.2d, v1.d[0]
	add	x8, x8, #1
	lsl	x11, x0, #3
	fmov	v3.2d, #-2.00000000
	and	x10, x8, #0x1
	tst	x8, #0x1
	csel	x9, x9, x10, eq
	add	x10, x2, x11
	add	x11, x11, x3
	sub	x9, x8, x9
	add	x8, x0, x9, lsl #1
	add	x11, x11, #8
	.p2align	5, 0x0, 16
.LBB0_4:                                // =>This Inner Loop Header: Depth=1
	sub	x12, x11, #24
	mov	v4.16b, v2.16b
	subs	x9, x9, #2
	ld2	{ v1.2d, v2.2d }, [x11], #32
	ld2	{ v5.2d, v6.2d }, [x12]
	ext	v4.16b, v4.16b, v2.16b, #8
	fmla	v5.2d, v3.2d, v4.2d
	fadd	v4.2d, v5.2d, v2.2d
	fmul	v5.2d, v4.2d, v0.d[0]
	mov	v4.16b, v1.16b
	st2	{ v4.2d, v5.2d }, [x10], #32
	b.ne	.LBB0_4
// %bb.5:
	mov	d1, v2.d[1]
.LBB0_6:
	lsl	x10, x8, #3
	fmov	d2, #-2.00000000
	add	x9, x10, x3
	add	x10, x10, x2
	add	x9, x9, #16
	add	x10, x10, #8
	.p2align	5, 0x0, 16
.LBB0_7:                                // =>This Inner Loop Header: Depth=1
	ldur	d3, [x9, #-32]
	add	x8, x8, #2
	cmp	x8, x1
	fmadd	d3, d1, d2, d3
	ldp	d4, d1, [x9, #-8]
	add	x9, x9, #16
	fadd	d3, d3, d1
	fmul	d3, d3, d0
	stp	d4, d3, [x10, #-8]
	add	x10, x10, #16
	b.lt	.LBB0_7
.LBB0_8:
	ret
.Lfunc_end0:
	.size	rhs_string, .Lfunc_end0-rhs_string
