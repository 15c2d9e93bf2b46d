// The name of splitc_main is misspelt.
int splitc_mian(void) { return 0; }
//$ sim FILE -p stache -m typhoon -n 2
//! error: the program has no function `splitc_main`
//!  --> FILE
//! help: name the file that has it too, or write `int splitc_main(void)`
//= 2
