extern "C" __global__ void quantile_none(int x) { (void)x; }
