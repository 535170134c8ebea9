  .text
  .globl one_sub
  .type one_sub, @function
one_sub:
  xorl %eax, %eax
1:
  cmpl %ecx, %eax
  jge 2f
  movss (%rdi,%rax,4), %xmm0
  subss (%rsi,%rax,4), %xmm0
  movss %xmm0, (%rdx,%rax,4)
  incl %eax
  jmp 1b
2:
  ret
  .size one_sub, .-one_sub
  .section .note.GNU-stack,"",@progbits
