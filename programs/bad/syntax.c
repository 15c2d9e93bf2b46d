/* Is not C. */
int main(void) {
    return 0
}
