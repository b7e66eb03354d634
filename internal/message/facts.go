package message

import (
	"fmt"
	"strings"

	"github.com/poolwright/poolwright/calibration"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
)

// facts translates device and model; nil where none are given.
func facts(m *poolwrightv1.Measurements, v *Violations) *Facts {
	switch {
	case m.GetDevice() == nil && m.GetModel() == nil:
		return nil
	case m.GetDevice() == nil:
		v.add("device", "needed with a model")
		return nil
	case m.GetModel() == nil:
		v.add("model", "needed with a device")
		return nil
	case m.GetOptions().GetPrior() != nil:
		v.add("options.prior", "give either a prior, or device and model to estimate it from")
	}
	f := &Facts{Devices: int(orOne(m.GetDevice().Count)), Model: architecture(m.GetModel(), "model", v)}
	f.Device = f.device(m.GetDevice(), precision(m.GetModel()), v)
	return f
}

// precision is that of a model; undefined values, which validation reports, count as
// 16 bits.
func precision(m *poolwrightv1.ModelFacts) poolwrightv1.ModelFacts_Precision {
	p := m.GetPrecision()
	if p < 0 || int(p) >= len(precisionNames) {
		return poolwrightv1.ModelFacts_BF16
	}
	return p
}

// device takes what is given, and the rest from the built-in table.
func (f *Facts) device(m *poolwrightv1.Device, p poolwrightv1.ModelFacts_Precision, v *Violations) calibration.Device {
	var d calibration.Device
	if name := m.GetName(); name != "" {
		a, known := acceleratorByName(name)
		if known {
			flops, as := a.compute(p)
			if as != p && m.Flops == nil {
				f.Notes = append(f.Notes, fmt.Sprintf("%s does not compute in %s; taken at %s", a.name, precisionNames[p], precisionNames[as]))
			}
			d = calibration.Device{
				MemoryBytes: a.memory * 1e9, MemoryBandwidth: a.bandwidth * 1e9,
				FLOPS: flops, InterconnectBandwidth: a.interconnect * 1e9,
			}
		} else if m.MemoryBandwidth == nil || m.Flops == nil {
			v.add("device.name", "%q is not built in: give memoryBandwidth and flops, or one of %s",
				name, strings.Join(Accelerators(), ", "))
			return d
		}
	}
	for _, x := range []struct {
		given *float64
		to    *float64
	}{
		{m.MemoryBytes, &d.MemoryBytes},
		{m.MemoryBandwidth, &d.MemoryBandwidth},
		{m.Flops, &d.FLOPS},
		{m.InterconnectBandwidth, &d.InterconnectBandwidth},
	} {
		if x.given != nil {
			*x.to = *x.given
		}
	}
	if d.MemoryBandwidth == 0 && m.MemoryBandwidth == nil {
		v.add("device.memoryBandwidth", "give it, or the name of a device that is built in: %s", strings.Join(Accelerators(), ", "))
	}
	if d.FLOPS == 0 && m.Flops == nil {
		v.add("device.flops", "give it, or the name of a device that is built in")
	}
	return d
}

func architecture(m *poolwrightv1.ModelFacts, path string, v *Violations) calibration.Architecture {
	a := calibration.Architecture{
		Parameters:        m.GetParameters(),
		ActiveParameters:  m.GetActiveParameters(),
		BytesPerParameter: m.GetBytesPerParameter(),
		Layers:            int(m.GetLayers()),
		HiddenSize:        int(m.GetHiddenSize()),
		KVBytesPerToken:   m.GetKvBytesPerToken(),
		KVHeads:           int(m.GetKvHeads()),
		HeadSize:          int(m.GetHeadSize()),
		KVBytesPerValue:   m.GetKvBytesPerValue(),
	}
	if m.BytesPerParameter == nil {
		a.BytesPerParameter = [...]float64{2, 1, 0.5}[precision(m)]
	}
	if a.Parameters > 0 && a.ActiveParameters > a.Parameters {
		v.add(path+".activeParameters", "%g are more than the %g parameters", a.ActiveParameters, a.Parameters)
	}
	if m.KvBytesPerToken == nil && (m.KvHeads == nil || m.HeadSize == nil) {
		v.add(path+".kvBytesPerToken", "give it, or kvHeads and headSize")
	}
	return a
}
