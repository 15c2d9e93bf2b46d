// Kinds of pointers that do not go together: the C compiler itself says so.
static int total;
struct record { int n, list[3]; };
void work(int *where);
double *spread walk;
int dealt[absent]::;

int splitc_main(void) {
    int here, *local = &here;
    int *global there = toglobal(0, &total);    struct record *global record = 0;
    there = local;
    local = there;
    work(there);   work(&record->list[1]);   here = (int)*walk; here := walk[0];
    record->other = 4;
    bulk_get(there, local, 4);  walk = there;
    *there := "text";
    return undeclared;
}
