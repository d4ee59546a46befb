#!/bin/sh
# The compiler launcher. ccache takes a precompiled header for what the file of its name plus ".sum" says
# (rnn_precompile writes it), so that a clone in another folder finds the same objects. The
# header itself names the folders that it was made in: it is made anew in each.
case " $* " in
*" c++-header "*) exec "$@" ;;
esac
CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_PCH_EXTSUM=true exec ccache "$@"
