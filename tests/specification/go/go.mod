module github.com/openjobspec/ojs-go/specification

go 1.24

require github.com/openjobspec/ojs-go v0.0.0

replace github.com/openjobspec/ojs-go => ../../../go
