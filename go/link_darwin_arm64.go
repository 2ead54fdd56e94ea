package ojs

// The static library; scripts/go.sh puts it there.

// #cgo LDFLAGS: ${SRCDIR}/lib/darwin_arm64/libojs.a -framework Security -framework CoreFoundation -lm
import "C"
