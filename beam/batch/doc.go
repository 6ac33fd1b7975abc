// Package batch restores any number of photographs on any number of machines, as a pipeline of
// Apache Beam: photographs are read from any file system that is registered with Beam, restored
// by package restore, and written back, with one line of JSON for each.
//
// What fails is reported in a line of its own and ends nothing else. What has been done is not done
// again: beside each result NAME stands its record NAME.json with checksums of the options, of the
// photograph and of the result, and a photograph is skipped if all three are right. The record is
// written before the result, so that a result of ours is never without one, and a file that has none
// is somebody else's: it is not replaced unless that is asked for.
//
// Results and records appear whole or not at all, by a rename where files are local. The other file
// systems of Beam store objects, which appear when they are complete.
package batch
