package ojs

// The static library; scripts/go.sh puts it there.

// #cgo LDFLAGS: ${SRCDIR}/lib/linux_arm64/libojs.a -lpthread -ldl -lm
import "C"
