// Forecast measures how well package forecast predicts recorded demand, beside
// predictions that take what was a day or a week before, and writes what it finds as a
// page of tables.
//
// The recorded demand is third-party data from a folder outside the repository. Without
// the folder nothing is measured. Of the data only errors of predictions are ever
// written to a file. The program exits with status 1 when a target is missed.
package main
