module github.com/openjobspec/ojs-go

go 1.24
