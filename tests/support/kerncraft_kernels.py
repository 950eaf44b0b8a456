"""Kernels in kerncraft's C, with the sizes that they have."""

DAXPY = "double x[N], y[N]; double s;\nfor(int i=0; i<N; ++i) y[i] = y[i] + s*x[i];"
TRIAD = "double a[N], b[N], c[N], d[N];\nfor(int i=0; i<N; ++i) a[i] = b[i] + c[i]*d[i];"
COPY = "double a[N], b[N];\nfor(int i=0; i<N; ++i) a[i] = b[i];"
SUM = "double a[N]; double s;\nfor(int i=0; i<N; ++i) s = s + a[i];"
STAR_2D = """double a[M][N], b[M][N]; double s;
for(int j=1; j<M-1; ++j)
  for(int i=1; i<N-1; ++i)
    b[j][i] = s*(a[j][i-1] + a[j][i+1] + a[j-1][i] + a[j+1][i]);"""
STAR_3D = """double a[L][M][N], b[L][M][N]; double s;
for(int k=1; k<L-1; ++k)
  for(int j=1; j<M-1; ++j)
    for(int i=1; i<N-1; ++i)
      b[k][j][i] = s*(a[k][j][i-1] + a[k][j][i+1] + a[k][j-1][i] + a[k][j+1][i]
                      + a[k-1][j][i] + a[k+1][j][i] + a[k][j][i]);"""
UPDATE = """double y[N], F0[N], F1[N], F2[N], F3[N]; double h;
for(int j=0; j<N; ++j)
  y[j] += h*(0.22*F0[j] + 0.39*F1[j] + 0.33*F2[j] + 0.06*F3[j]);"""


def combination(stages: int) -> str:
    """The linear combination of all stages of a PIRK method, unrolled: 2 x stages + 1 rows."""
    rows = ", ".join(f"Y{i}[N], F{i}[N]" for i in range(stages))
    body = "\n".join(
        f"  Y{i}[j] = y[j] + h*({' + '.join(f'0.{i + 1}{k}3*F{k}[j]' for k in range(stages))});"
        for i in range(stages)
    )
    return f"double y[N], {rows}; double h;\nfor(int j=0; j<N; ++j) {{\n{body}\n}}"


PIRK = combination(4)

SIZES = {
    DAXPY: {"N": (8, 50_000_000)},
    TRIAD: {"N": (8, 50_000_000)},
    COPY: {"N": (8, 50_000_000)},
    SUM: {"N": (8, 50_000_000)},
    UPDATE: {"N": (8, 50_000_000)},
    PIRK: {"N": (8, 50_000_000)},
    STAR_2D: {"M": (4, 30_000), "N": (8, 3_000_000)},
    STAR_3D: {"L": (4, 800), "M": (4, 8_000), "N": (8, 60_000)},
}
"""Range of every size, from data that fit into L1 to a row that fits into no cache."""
