float emit_exp(float x);
float emit_inverse(float x);
