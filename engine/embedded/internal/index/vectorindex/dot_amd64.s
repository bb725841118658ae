#include "textflag.h"

// func dotsAVX2(sums *int32, codes *int8, y *int16, n, dim int)
TEXT ·dotsAVX2(SB), NOSPLIT, $0-40
	MOVQ sums+0(FP), DI
	MOVQ codes+8(FP), SI
	MOVQ y+16(FP), DX
	MOVQ n+24(FP), CX
	MOVQ dim+32(FP), R8
	SHRQ $5, R8

vector:
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	MOVQ  DX, R9
	MOVQ  R8, R10

components:
	VPMOVSXBW (SI), Y2
	VPMOVSXBW 16(SI), Y3
	VPMADDWD  (R9), Y2, Y2
	VPMADDWD  32(R9), Y3, Y3
	VPADDD    Y2, Y0, Y0
	VPADDD    Y3, Y1, Y1
	ADDQ      $32, SI
	ADDQ      $64, R9
	DECQ      R10
	JNZ       components

	VPADDD       Y1, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPADDD       X1, X0, X0
	VPSHUFD      $0x4E, X0, X1
	VPADDD       X1, X0, X0
	VPSHUFD      $0xB1, X0, X1
	VPADDD       X1, X0, X0
	VMOVD        X0, (DI)
	ADDQ         $4, DI
	DECQ         CX
	JNZ          vector
	VZEROUPPER
	RET
