module github.com/poolwright/poolwright/benchmarks

go 1.26.0

require (
	github.com/poolwright/poolwright v0.0.0
	github.com/stretchr/testify v1.12.1
	gonum.org/v1/gonum v0.17.0
)

require go.yaml.in/yaml/v3 v3.0.6 // indirect

replace github.com/poolwright/poolwright => ../
