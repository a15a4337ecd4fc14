package report

import (
	"bufio"
	"encoding/xml"
	"io"
	"strings"

	"oomscan/parser/secret"
)

// NewJUnit returns the reporter of JUnit's XML, which CI servers show: a suite a job and a case an incident. It failed where
// memory ran out and the run did not survive that; a job without an incident is one case that passed.
func NewJUnit(o Output) Reporter { return &junit{out: bufio.NewWriter(o.Writer)} }

type junit struct {
	out *bufio.Writer
}

type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name    string       `xml:"name,attr"`
	Class   string       `xml:"classname,attr"`
	Failure *junitDetail `xml:"failure"`
	Error   *junitDetail `xml:"error"`
	Output  string       `xml:"system-out,omitempty"`
}

type junitDetail struct {
	Type    string `xml:"type,attr"`
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// Begin implements [Reporter].
func (u *junit) Begin(*Answer) error {
	_, err := io.WriteString(u.out, xml.Header+"<testsuites name=\"oomscan\">\n")
	return err
}

// Job implements [Reporter].
func (u *junit) Job(j *Job) error {
	s := junitSuite{Name: wordOnlyJob}
	if j.Name != "" {
		s.Name = secret.Text(j.Name)
	}
	for i := range j.Report.Incidents {
		in := &j.Report.Incidents[i]
		text := strings.Join(gist(in), "\n")
		c := junitCase{Name: in.ID, Class: j.Report.Run.Framework + "." + in.Phase}
		if in.Verdict == "memory" && !in.Survived {
			c.Failure = &junitDetail{in.Kind, in.Summary, text}
			s.Failures++
		} else {
			c.Output = text
		}
		s.Cases = append(s.Cases, c)
	}
	for _, in := range failures(j.Report) {
		s.Cases = append(s.Cases, junitCase{Name: in.Name, Class: "input", Error: &junitDetail{"input", *in.Error, ""}})
		s.Errors++
	}
	if len(s.Cases) == 0 {
		s.Cases = []junitCase{{Name: wordNoIncident, Class: j.Report.Run.Framework}}
	}
	s.Tests = len(s.Cases)
	text, err := xml.MarshalIndent(s, "  ", "  ")
	if err == nil {
		_, err = io.WriteString(u.out, printableText(string(text))+"\n")
	}
	return err
}

// End implements [Reporter].
func (u *junit) End() error {
	_, _ = io.WriteString(u.out, "</testsuites>\n") // the flush says what went wrong
	return u.out.Flush()
}
