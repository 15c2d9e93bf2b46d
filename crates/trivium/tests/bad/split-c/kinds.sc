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
//$ sim FILE -p stache -m typhoon -n 2
//! error: the C compiler refuses the program:
//! FILE:11:11: error: assigning 'int *' to 'int *global' changes address space of pointer
//!    11 |     there = local;
//!       |           ^ ~~~~~
//! FILE:12:11: error: assigning 'int *global' to 'int *' changes address space of pointer
//!    12 |     local = there;
//!       |           ^ ~~~~~
//! FILE:13:10: error: passing 'int *global' to parameter of type 'int *' changes address space of pointer
//!    13 |     work(there);   work(&record->list[1]);   here = (int)*walk; here := walk[0];
//!       |          ^~~~~
//! FILE:4:16: note: passing argument to parameter 'where' here
//!     4 | void work(int *where);
//!       |                ^
//! FILE:13:25: error: passing 'int *global' to parameter of type 'int *' changes address space of pointer
//!    13 |     work(there);   work(&record->list[1]);   here = (int)*walk; here := walk[0];
//!       |                         ^~~~~~~~~~~~~~~~
//! FILE:4:16: note: passing argument to parameter 'where' here
//!     4 | void work(int *where);
//!       |                ^
//! FILE:13:70: error: static assertion failed due to requirement '__builtin_types_compatible_p(int, double)': the two sides of := are of different types
//!    13 |     work(there);   work(&record->list[1]);   here = (int)*walk; here := walk[0];
//!       |                                                                      ^~~~~~~~~~~
//! FILE:14:13: error: no member named 'other' in 'struct record'
//!    14 |     record->other = 4;
//!       |     ~       ^
//! FILE:15:14: error: passing 'int *global' to parameter of type 'void *' changes address space of pointer
//!    15 |     bulk_get(there, local, 4);  walk = there;
//!       |              ^~~~~
//! split-c.h:_:21: note: passing argument to parameter 'to' here
//! FILE:15:38: error: assigning 'int *global' to 'double *spread' changes address space of pointer
//!    15 |     bulk_get(there, local, 4);  walk = there;
//!       |                                      ^ ~~~~~
//! FILE:16:12: error: incompatible pointer to integer conversion initializing 'int' with an expression of type 'char[5]' [-Wint-conversion]
//!    16 |     *there := "text";
//!       |            ^
//! FILE:17:12: error: use of undeclared identifier 'undeclared'
//!    17 |     return undeclared;
//!       |            ^~~~~~~~~~
//! FILE:6:11: error: use of undeclared identifier 'absent'
//!     6 | int dealt[absent]::;
//!       |           ^~~~~~
//! 11 errors generated.
//!  --> FILE:11:11
//!  --> FILE:12:11
//!  --> FILE:13:10
//!  --> FILE:13:25
//!  --> FILE:13:70
//!  --> FILE:14:13
//!  --> FILE:15:14
//!  --> FILE:15:38
//!  --> FILE:16:12
//!  --> FILE:17:12
//!  --> FILE:6:11
//! help: correct what the compiler names above
//= 2
