package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// jobOf reads a Job of deploy/sweep strictly.
func jobOf(t *testing.T, name string) *batchv1.Job {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "deploy", "sweep", name)) //nolint:gosec // one of ours
	require.NoError(t, err)
	job := &batchv1.Job{}
	require.NoError(t, yaml.UnmarshalStrict(text, job))
	require.Len(t, job.Spec.Template.Spec.Containers, 1)
	return job
}

// arguments are those of the container of a pod of a Job, as the kubelet would pass them;
// what is mounted lies in folder.
func arguments(job *batchv1.Job, index int, folder string) []string {
	var args []string
	for _, arg := range job.Spec.Template.Spec.Containers[0].Args {
		arg = strings.ReplaceAll(arg, "$(JOB_COMPLETION_INDEX)", fmt.Sprint(index))
		for _, mount := range job.Spec.Template.Spec.Containers[0].VolumeMounts {
			arg = strings.Replace(arg, mount.MountPath, filepath.Join(folder, mount.Name), 1)
		}
		args = append(args, arg)
	}
	return args
}

// What the pods of the Job compute, one by one, and the merge prints is what a single
// process computes.
func TestSweepOfAJob(t *testing.T) {
	job, merge := jobOf(t, "job.yaml"), jobOf(t, "merge.yaml")
	require.Equal(t, batchv1.IndexedCompletion, *job.Spec.CompletionMode)
	require.Contains(t, job.Spec.Template.Spec.Containers[0].Args, fmt.Sprintf("--shard=%d", *job.Spec.Completions), "a pod for each shard")
	scenario := shorterExample(t)
	script := filepath.Join(t.TempDir(), "sweep.txtar")
	require.NoError(t, os.WriteFile(script, []byte("pods\nmerge\ncp stdout merged\nwhole\ncmp stdout merged\nstdout '^64 '\n"), 0o600))
	testscript.Run(t, testscript.Params{
		Files: []string{script},
		Setup: func(e *testscript.Env) error {
			for _, folder := range []string{"scenario", "shards"} {
				if err := os.Mkdir(filepath.Join(e.WorkDir, folder), 0o700); err != nil {
					return err
				}
			}
			return os.WriteFile(filepath.Join(e.WorkDir, "scenario", "scenario.yaml"), scenario, 0o600)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"pods": func(ts *testscript.TestScript, _ bool, _ []string) {
				for index := range int(*job.Spec.Completions) {
					ts.Setenv("JOB_COMPLETION_INDEX", fmt.Sprint(index))
					ts.Check(ts.Exec("poolwright", arguments(job, index, ts.MkAbs("."))...))
				}
			},
			"merge": func(ts *testscript.TestScript, _ bool, _ []string) {
				ts.Check(ts.Exec("poolwright", arguments(merge, 0, ts.MkAbs("."))...))
			},
			"whole": func(ts *testscript.TestScript, _ bool, _ []string) {
				var args []string
				for _, arg := range arguments(job, 0, ts.MkAbs(".")) {
					if !strings.HasPrefix(arg, "--shard") && !strings.HasPrefix(arg, "--to") && !strings.HasPrefix(arg, "--output") {
						args = append(args, arg)
					}
				}
				ts.Check(ts.Exec("poolwright", args...))
			},
		},
	})
}

// The scenario is the example, so that people can try the sweep on their own machine.
func TestScenarioOfTheJob(t *testing.T) {
	example, err := os.ReadFile(filepath.Join("..", "..", "examples", "what-if.yaml"))
	require.NoError(t, err)
	scenario, err := os.ReadFile(filepath.Join("..", "..", "deploy", "sweep", "scenario.yaml"))
	require.NoError(t, err)
	assert.Equal(t, string(example), string(scenario))
}
