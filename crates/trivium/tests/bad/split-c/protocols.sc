// Protocols under which the processors' data cannot be.
int splitc_main(void) { return 0; }
//$ sim FILE -p german -m typhoon -n 2
//! error: the data of Split-C's processors cannot be under protocol `german`: a processor uses its own data by plain pointers from the beginning, and the home has no access to a block that nobody has touched
//!  --> FILE
//! help: protocols that fit are eager, mapped, migratory, mshr, msi, retry-credits, stache, stache-counted, stache-pages, stache-prefetch, swcc, uncached
//= 2
//$ sim FILE -p tso-cc -m typhoon -n 2
//! error: the data of Split-C's processors cannot be under protocol `tso-cc`: a processor uses its own data by plain pointers from the beginning, and the home has read access only to a block that nobody has touched
//!  --> FILE
//! help: protocols that fit are eager, mapped, migratory, mshr, msi, retry-credits, stache, stache-counted, stache-pages, stache-prefetch, swcc, uncached
//= 2
//$ sim FILE -p flash-coherence -m typhoon -n 2
//! error: the data of Split-C's processors cannot be under protocol `flash-coherence`: its processors have caches of their own, so that the home's copy is not the program's memory
//!  --> FILE
//! help: protocols that fit are eager, mapped, migratory, mshr, msi, retry-credits, stache, stache-counted, stache-pages, stache-prefetch, swcc, uncached
//= 2
//$ sim FILE -p token-lock -m typhoon -n 2
//! error: the data of Split-C's processors cannot be under protocol `token-lock`: it answers no loads and stores
//!  --> FILE
//! help: protocols that fit are eager, mapped, migratory, mshr, msi, retry-credits, stache, stache-counted, stache-pages, stache-prefetch, swcc, uncached
//= 2
//$ run FILE -p write-update -n 2
//! error: the data of Split-C's processors cannot be under protocol `write-update`: a processor uses its own data by plain pointers from the beginning, and the home has read access only to a block that nobody has touched
//!  --> FILE
//! help: protocols that fit are eager, mapped, migratory, mshr, msi, retry-credits, stache, stache-counted, stache-pages, stache-prefetch, swcc, uncached
//= 2
//$ compare FILE -p stache,german -m typhoon -n 2
//! error: the data of Split-C's processors cannot be under protocol `german`: a processor uses its own data by plain pointers from the beginning, and the home has no access to a block that nobody has touched
//!  --> FILE
//! help: protocols that fit are eager, mapped, migratory, mshr, msi, retry-credits, stache, stache-counted, stache-pages, stache-prefetch, swcc, uncached
//= 2
