// Package web shows what the API says.
//
// Its pages are embedded: HTML, CSS and JavaScript modules as they were written, without a build
// step, and uPlot, which draws the charts. They ask the API that is served beside them and
// nothing else, so they work offline. The report of a simulation is made of the same parts in one file.
package web
