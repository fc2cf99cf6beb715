/* libcrocprof is made of the static libraries of src/; this file gives the target a source. */
extern int crocprof_library_is_not_empty;
