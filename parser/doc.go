// Package parser holds the words that the packages below it share: what a log says, as observations. There are four shapes: an
// [Event] (something failed), a [Setting], a [Marker] (the run entered a phase or step) and a [Gauge] (a memory reading). What
// they mean for a run is package classifier's business.
//
// Follow one line of a log through the house:
//
//		(WorkerDict pid=4711) [rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has ...
//
//	 1. source opens the file, folder, archive or pipe that holds it and yields named readers.
//	 2. stream cuts the bytes into lines. Package literal finds the literals of the pattern table in them; "CUDA out of memory" is
//	    one of an event, so this line is read now. A line with only literals of markers is kept, the latest of its kind, until an
//	    event makes it matter. Any other line is ignored, unless its writer has an open report.
//	 3. envelope strips the line prefixes, Ray's and torchrun's here, and says who wrote the message: pid 4711, rank 3.
//	 4. traceback, settings and sample follow what the writer has begun: the message ends its traceback, and it is no text of a
//	    printed sample.
//	 5. pattern tries the patterns of messages that own the literals: torch.oom.of_which matches, and no veto does. Its named groups
//	    become fields: requested=2147483648, device=3.
//	 6. secret masks credentials in what is kept of the text, and stream emits the Event.
//
// A large file is read in two gears: prefilter searches it on all processors for the literals of events alone, and where it finds
// none, stream skips the lines between the beginning and the end. obs writes observations to bytes, and reads them back.
package parser
