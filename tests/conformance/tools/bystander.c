/* Exports enough to have a symbol table worth searching. */
#define F(n)                                                                                       \
    int bystander_##n(void);                                                                       \
    int bystander_##n(void)                                                                        \
    {                                                                                              \
        return n;                                                                                  \
    }
F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9)
