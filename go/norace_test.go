//go:build !race

package ojs_test

const raceDetector = false
