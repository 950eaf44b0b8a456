#ifdef __clang__
#define INDEPENDENT
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

void sweep_lc_jli(long first, long last, double *restrict Y_0, double *restrict Y_1,
        double *restrict Y_2, double *restrict Y_3, const double *restrict F_0,
        const double *restrict F_1, const double *restrict F_2, const double *restrict F_3,
        const double *restrict y, double h);

void sweep_lc_jli(long first, long last, double *restrict Y_0, double *restrict Y_1,
        double *restrict Y_2, double *restrict Y_3, const double *restrict F_0,
        const double *restrict F_1, const double *restrict F_2, const double *restrict F_3,
        const double *restrict y, double h)
{
    INDEPENDENT
    for (long j = first; j < last; j++) {
        const double sum_0 = 0.11299947932315618*F_0[j] + (-0.04030922072352221)*F_1[j] +
                0.025802377420336392*F_2[j] + (-0.009904676507266424)*F_3[j];
        Y_0[j] = h*sum_0 + y[j];
        const double sum_1 = 0.23438399574740026*F_0[j] + 0.2068925739353589*F_1[j] +
                (-0.04785712804854072)*F_2[j] + 0.016047422806516273*F_3[j];
        Y_1[j] = h*sum_1 + y[j];
        const double sum_2 = 0.21668178462325033*F_0[j] + 0.4061232638673733*F_1[j] +
                0.18903651817005634*F_2[j] + (-0.02418210489983294)*F_3[j];
        Y_2[j] = h*sum_2 + y[j];
        const double sum_3 = 0.22046221117676837*F_0[j] + 0.3881934688431719*F_1[j] +
                0.32884431998005975*F_2[j] + 0.0625*F_3[j];
        Y_3[j] = h*sum_3 + y[j];
    }
}
