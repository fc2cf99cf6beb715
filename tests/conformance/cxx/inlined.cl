/* Line numbers matter: codeobj_test.cpp names them. */
static inline float square(float x)
{
    return x * x + 0.75f; /* line 4 */
}

static inline float twice_squared(float x)
{
    return square(x) * 2.5f; /* line 9 */
}

kernel void squares(global float *values)
{
    int i = (int)values[0];
    values[i] = twice_squared(values[i]); /* line 15 */
}
