int own_factor(void);
void own_relu(const float *x, float *y, int n);
