package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/poolwright/poolwright/internal/document"
	"github.com/poolwright/poolwright/internal/message"
	poolwrightv1 "github.com/poolwright/poolwright/proto/poolwright/v1"
	"github.com/poolwright/poolwright/sources"
)

// CalibrateRequest asks for a profile. What it gives takes precedence over files.
type CalibrateRequest struct {
	// Files hold measurements; "-" is standard input.
	Files []string
	// Columns are assignments such as latency=ttft_ms, Where conditions such as
	// gpu=h200 and load<0.8.
	Columns, Where []string
	// TimeUnit is that of columns that name none.
	TimeUnit Choice

	// Ignore names metrics, with or without a kind of samples: ttft,
	// closed-loop.ttft.
	Ignore     []string
	SquareRoot Choice
	HeldOut    bool

	MaxBatch         Count
	MaxBatchedTokens Number
	KVCacheTokens    Number
	PrefillMode      Choice
	AcceptedTokens   Number

	Device  DeviceFacts
	Devices Count
	Model   ModelFacts

	// Format of the answer; SVG is a file for a plot, empty = none.
	Format Format
	SVG    string
}

// DeviceFacts are facts about an accelerator, in place of those of its name.
type DeviceFacts struct {
	Name                                                       string
	MemoryBytes, MemoryBandwidth, FLOPS, InterconnectBandwidth Number
}

// ModelFacts are facts about a model.
type ModelFacts struct {
	Parameters, ActiveParameters, BytesPerParameter Number
	Precision                                       Choice
	Layers, HiddenSize, KVHeads, HeadSize           Count
	KVBytesPerToken, KVBytesPerValue                Number
}

// NewCalibrateRequest returns a request with the choices that there are.
func NewCalibrateRequest() *CalibrateRequest {
	return &CalibrateRequest{
		TimeUnit:    Choice{Names: []string{"US", "MS", "S"}},
		SquareRoot:  Choice{Names: enumNames(poolwrightv1.CalibrationOptions_SquareRoot_name)},
		PrefillMode: Choice{Names: enumNames(poolwrightv1.Variant_PrefillMode_name)},
		Model:       ModelFacts{Precision: Choice{Names: enumNames(poolwrightv1.ModelFacts_Precision_name)}},
	}
}

// enumNames are the names of an enum whose values count from 0.
func enumNames(names map[int32]string) []string {
	var out []string
	for i := range int32(len(names)) { //nolint:gosec // a handful
		out = append(out, names[i])
	}
	return out
}

// Accelerators are the names of the devices whose data sheets are built in.
func Accelerators() []string { return message.Accelerators() }

// Calibrate reads measurements, answers and prints. The error is an [*InputError]
// for bad input.
func Calibrate(ctx context.Context, r *CalibrateRequest, in io.Reader, out io.Writer) error {
	m, notes, err := r.read(in)
	if err != nil {
		return &InputError{err}
	}
	service, err := newService("go")
	if err != nil {
		return err
	}
	answer, err := service.Calibrate(ctx, m)
	if err != nil {
		return callError(err)
	}
	answer.Notes = append(answer.Notes, notes...)
	if r.SVG != "" {
		if err := os.WriteFile(r.SVG, residualPlot(answer).SVG(), 0o644); err != nil { //nolint:gosec // a plot is no secret
			return fmt.Errorf("write the plot: %w", err)
		}
	}
	if err := r.Format.write(out, answer); err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	return nil
}

// read reads all files and adds what the request gives.
func (r *CalibrateRequest) read(in io.Reader) (*poolwrightv1.Measurements, []string, error) {
	table, err := r.table()
	ignored, err2 := ignoredMetrics(r.Ignore)
	if err := errors.Join(err, err2); err != nil {
		return nil, nil, err
	}
	files, err := readFiles(r.Files, in)
	if err != nil {
		return nil, nil, err
	}
	m, notes, err := sources.ReadMeasurements(files, table)
	if err != nil {
		return nil, nil, err
	}
	r.options(m, ignored)
	r.facts(m)
	return m, notes, nil
}

// table translates what is said about tables.
func (r *CalibrateRequest) table() (sources.TableOptions, error) {
	o := sources.TableOptions{TimeUnit: r.TimeUnit.String()}
	var wrong []error
	for _, text := range r.Columns {
		column, name, ok := strings.Cut(text, "=")
		if !ok || column == "" || name == "" {
			wrong = append(wrong, fmt.Errorf("--columns: expected COLUMN=NAME, got %q", text))
		}
		o.Columns = append(o.Columns, sources.Assignment{Column: column, Name: name})
	}
	for _, text := range r.Where {
		c, err := sources.ParseCondition(text)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("--where: %w", err))
		}
		o.Where = append(o.Where, c)
	}
	return o, errors.Join(wrong...)
}

// readFiles refuses a file that is there twice, under whatever names: its measurements would count twice.
func readFiles(names []string, in io.Reader) ([]sources.File, error) {
	var (
		files []sources.File
		wrong []error
	)
	for _, name := range names {
		data, err := readFile(name, in)
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		if k := slices.IndexFunc(files, func(f sources.File) bool { return bytes.Equal(f.Data, data) }); k >= 0 {
			wrong = append(wrong, fmt.Errorf("%s: holds what %s holds, which would count twice", name, files[k].Name))
		}
		files = append(files, sources.File{Name: name, Data: data})
	}
	return files, errors.Join(wrong...)
}

// readFile reads a file, or standard input where it is "-".
func readFile(name string, in io.Reader) ([]byte, error) {
	if name != "-" {
		f, err := os.Open(name) //nolint:gosec // the user names the file
		if err != nil {
			return nil, err
		}
		defer f.Close() //nolint:errcheck // only read
		in = f
	}
	data, err := document.ReadAll(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return data, nil
}

// ignoredMetrics reads names such as ttft and closed-loop.ttft.
func ignoredMetrics(names []string) ([]*poolwrightv1.IgnoredMetric, error) {
	kinds := Choice{Names: enumNames(poolwrightv1.Sample_Kind_name)}
	metrics := Choice{Names: enumNames(poolwrightv1.Sample_Metric_name)}
	var out []*poolwrightv1.IgnoredMetric
	var wrong []error
	for _, name := range names {
		kind, metric, ok := strings.Cut(name, ".")
		if !ok {
			kind, metric = "", name
		}
		x := &poolwrightv1.IgnoredMetric{}
		if err := metrics.Set(metric); err != nil {
			wrong = append(wrong, fmt.Errorf("--ignore %s: %q %w", name, metric, err))
		}
		x.Metric = poolwrightv1.Sample_Metric(poolwrightv1.Sample_Metric_value[metrics.value])
		if ok {
			if err := kinds.Set(kind); err != nil {
				wrong = append(wrong, fmt.Errorf("--ignore %s: %q %w", name, kind, err))
			}
			x.Kind = poolwrightv1.Sample_Kind(poolwrightv1.Sample_Kind_value[kinds.value]).Enum()
		}
		out = append(out, x)
	}
	return out, errors.Join(wrong...)
}

// override replaces a value by one that is given.
func override[T any](to **T, given *T) {
	if given != nil {
		*to = given
	}
}

// options adds the request's options to those of the files.
func (r *CalibrateRequest) options(m *poolwrightv1.Measurements, ignored []*poolwrightv1.IgnoredMetric) {
	if m.Options == nil {
		m.Options = &poolwrightv1.CalibrationOptions{}
	}
	o := m.GetOptions()
	o.Ignore = append(o.Ignore, ignored...)
	o.HeldOut = o.GetHeldOut() || r.HeldOut
	override(&o.MaxBatch, r.MaxBatch.value)
	override(&o.MaxBatchedTokens, r.MaxBatchedTokens.value)
	override(&o.KvCacheTokens, r.KVCacheTokens.value)
	override(&o.SpeculativeAcceptedTokens, r.AcceptedTokens.value)
	if v := r.SquareRoot.value; v != "" {
		o.SquareRoot = poolwrightv1.CalibrationOptions_SquareRoot(poolwrightv1.CalibrationOptions_SquareRoot_value[v])
	}
	if v := r.PrefillMode.value; v != "" {
		o.PrefillMode = poolwrightv1.Variant_PrefillMode(poolwrightv1.Variant_PrefillMode_value[v])
	}
}

// facts adds the request's facts to those of the files.
func (r *CalibrateRequest) facts(m *poolwrightv1.Measurements) {
	if r.givesDevice() {
		if m.Device == nil {
			m.Device = &poolwrightv1.Device{}
		}
		d := m.GetDevice()
		if r.Device.Name != "" {
			d.Name = r.Device.Name
		}
		override(&d.Count, r.Devices.value)
		override(&d.MemoryBytes, r.Device.MemoryBytes.value)
		override(&d.MemoryBandwidth, r.Device.MemoryBandwidth.value)
		override(&d.Flops, r.Device.FLOPS.value)
		override(&d.InterconnectBandwidth, r.Device.InterconnectBandwidth.value)
	}
	if !r.givesModel() {
		return
	}
	if m.Model == nil {
		m.Model = &poolwrightv1.ModelFacts{}
	}
	f := m.GetModel()
	if v := r.Model.Parameters.value; v != nil {
		f.Parameters = *v
	}
	if v := r.Model.Layers.value; v != nil {
		f.Layers = *v
	}
	if v := r.Model.HiddenSize.value; v != nil {
		f.HiddenSize = *v
	}
	if v := r.Model.Precision.value; v != "" {
		f.Precision = poolwrightv1.ModelFacts_Precision(poolwrightv1.ModelFacts_Precision_value[v])
	}
	override(&f.ActiveParameters, r.Model.ActiveParameters.value)
	override(&f.BytesPerParameter, r.Model.BytesPerParameter.value)
	override(&f.KvHeads, r.Model.KVHeads.value)
	override(&f.HeadSize, r.Model.HeadSize.value)
	override(&f.KvBytesPerToken, r.Model.KVBytesPerToken.value)
	override(&f.KvBytesPerValue, r.Model.KVBytesPerValue.value)
}

// GivesFacts tells whether the request has anything about device or model.
func (r *CalibrateRequest) GivesFacts() bool { return r.givesDevice() || r.givesModel() }

func (r *CalibrateRequest) givesDevice() bool {
	d := &r.Device
	return d.Name != "" || r.Devices.value != nil || anyNumber(d.MemoryBytes, d.MemoryBandwidth, d.FLOPS, d.InterconnectBandwidth)
}

func (r *CalibrateRequest) givesModel() bool {
	f := &r.Model
	return f.Precision.value != "" ||
		anyNumber(f.Parameters, f.ActiveParameters, f.BytesPerParameter, f.KVBytesPerToken, f.KVBytesPerValue) ||
		anyCount(f.Layers, f.HiddenSize, f.KVHeads, f.HeadSize)
}

func anyNumber(numbers ...Number) bool {
	for _, n := range numbers {
		if n.value != nil {
			return true
		}
	}
	return false
}

func anyCount(counts ...Count) bool {
	for _, c := range counts {
		if c.value != nil {
			return true
		}
	}
	return false
}
