	.text
	.globl	update                          // -- Begin function update
	.p2align	4
	.type	update,@function
update:                                 // @update
// %bb.0:
	subs	x9, x1, x0
	b.le	.LBB0_8
// %bb.1:
	cmp	x9, #4
	b.hs	.LBB0_3
// %bb.2:
	mov	x8, x0
	b	.LBB0_6
.LBB0_3:
	dup	v1.2d, v0.d[0]
	lsl	x11, x0, #3
	and	x10, x9, #0xfffffffffffffffc
	add	x12, x11, #16
	add	x8, x10, x0
	mov	x13, x10
	add	x11, x2, x12
	add	x12, x3, x12
	.p2align	5, 0x0, 16
.LBB0_4:                                // =>This Inner Loop Header: Depth=1
	ldp	q2, q3, [x11, #-16]
	subs	x13, x13, #4
	ldp	q4, q5, [x12, #-16]
	add	x12, x12, #32
	fmla	v3.2d, v5.2d, v1.2d
	fmla	v2.2d, v4.2d, v1.2d
	stp	q2, q3, [x11, #-16]
	add	x11, x11, #32
	b.ne	.LBB0_4
// %bb.5:
	cmp	x9, x10
	b.eq	.LBB0_8
.LBB0_6:
	lsl	x10, x8, #3
	sub	x9, x1, x8
	add	x8, x3, x10
	add	x10, x2, x10
	.p2align	5, 0x0, 16
.LBB0_7:                                // =>This Inner Loop Header: Depth=1
	ldr	d1, [x10]
	subs	x9, x9, #1
	ldr	d2, [x8], #8
	fmadd	d1, d0, d2, d1
	str	d1, [x10], #8
	b.ne	.LBB0_7
.LBB0_8:
	ret
.Lfunc_end0:
	.size	update, .Lfunc_end0-update
