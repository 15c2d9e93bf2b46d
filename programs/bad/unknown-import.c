/* Imports a function that does not exist. */
__attribute__((import_module("trivium"), import_name("teleport"))) void teleport(int node);

int main(void) {
    teleport(1);
    return 0;
}
