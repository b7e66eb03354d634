package message

import (
	"slices"
	"strings"

	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// accelerator is what the data sheet of a device says.
type accelerator struct {
	name string
	// memory in GB (10⁹ bytes), bandwidth of the memory and interconnect per
	// direction in GB/s.
	memory, bandwidth, interconnect float64
	// tera is the dense peak by precision, in 10¹² operations/s; 0 where the device
	// does not compute in that precision.
	tera [3]float64
}

// accelerators returns the built-in table. Peaks are without sparsity. Interconnect
// is half of what data sheets give, which count both directions.
//
// Sources, by the names that their makers give them:
//
//   - NVIDIA: T4 datasheet (2019); V100 datasheet (2020); A10 datasheet (2021); A100
//     datasheet (2021); H100 datasheet (2023); H100 NVL product brief (2024); H200
//     datasheet (2024); L4 datasheet (2023); L40S datasheet (2023); DGX B200
//     datasheet and GB200 NVL72 specifications (2025), per GPU.
//   - AMD: Instinct MI300X, MI325X and MI355X data sheets (2023, 2024, 2025).
//   - Intel: Gaudi 2 white paper (2022); Gaudi 3 white paper (2024).
func accelerators() []accelerator {
	return []accelerator{
		{"A10", 24, 600, 32, [3]float64{125}},
		{"A100", 80, 2039, 300, [3]float64{312}},
		{"A100-40GB", 40, 1555, 300, [3]float64{312}},
		{"A100-PCIe", 80, 1935, 300, [3]float64{312}},
		{"B200", 180, 8000, 900, [3]float64{2250, 4500, 9000}},
		{"GB200", 186, 8000, 900, [3]float64{2500, 5000, 10000}},
		{"Gaudi2", 96, 2450, 300, [3]float64{432, 865}},
		{"Gaudi3", 128, 3700, 600, [3]float64{1835, 1835}},
		{"H100", 80, 3350, 450, [3]float64{989, 1979}},
		{"H100-NVL", 94, 3900, 300, [3]float64{835, 1671}},
		{"H100-PCIe", 80, 2000, 300, [3]float64{756, 1513}},
		{"H200", 141, 4800, 450, [3]float64{989, 1979}},
		{"L4", 24, 300, 32, [3]float64{121, 242}},
		{"L40S", 48, 864, 32, [3]float64{362, 733}},
		{"MI300X", 192, 5300, 448, [3]float64{1307, 2615}},
		{"MI325X", 256, 6000, 448, [3]float64{1307, 2615}},
		{"MI355X", 288, 8000, 538, [3]float64{2517, 5033, 10066}},
		{"T4", 16, 320, 16, [3]float64{65}},
		{"V100", 32, 900, 150, [3]float64{125}},
	}
}

// Accelerators are the names of the devices whose data sheets are built in.
func Accelerators() []string {
	var names []string
	for _, a := range accelerators() {
		names = append(names, a.name)
	}
	return names
}

// acceleratorByName finds a device by a name as people write it: the maker, the
// form of the usual module and the usual memory may be there or not.
func acceleratorByName(name string) (accelerator, bool) {
	table := accelerators()
	wanted := acceleratorKey(name)
	i := slices.IndexFunc(table, func(a accelerator) bool { return acceleratorKey(a.name) == wanted })
	if i < 0 {
		return accelerator{}, false
	}
	return table[i], true
}

// acceleratorKey leaves out what does not distinguish devices of the table.
func acceleratorKey(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return !('a' <= r && r <= 'z' || '0' <= r && r <= '9')
	})
	words = slices.DeleteFunc(words, func(w string) bool {
		switch w {
		case "nvidia", "amd", "intel", "habana", "instinct", "tesla", "gpu", "sxm", "sxm2", "sxm4", "sxm5", "sxm6", "oam", "80gb", "141gb":
			return true
		}
		return false
	})
	return strings.Join(words, "")
}

// precisionNames are the precisions in words.
var precisionNames = [...]string{
	poolwrightv1.ModelFacts_BF16: "16 bits",
	poolwrightv1.ModelFacts_FP8:  "8 bits",
	poolwrightv1.ModelFacts_FP4:  "4 bits",
}

// compute returns the peak of a device for a model of some precision: the next wider
// one where the device lacks that.
func (a accelerator) compute(precision poolwrightv1.ModelFacts_Precision) (flops float64, as poolwrightv1.ModelFacts_Precision) {
	for as = precision; as > 0 && a.tera[as] == 0; as-- { //nolint:revive // the loop's head is all
	}
	return a.tera[as] * 1e12, as
}
