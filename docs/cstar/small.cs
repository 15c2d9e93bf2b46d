shape [100]S;
double:S a, b;

int main(void) {
    with (S) {
        where (a > 1) {
            b = a * 2;
            a = 0.5 * ([(. + 1) %% 100]a + b);
            b++;
        }
    }
    return 0;
}
