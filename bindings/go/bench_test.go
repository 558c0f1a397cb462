package mcpselect_test

// What a call costs, beside what a Go host would write with encoding/json to come to the same decision. Inputs rotate, so
// that neither side learns one by heart; TestTheBaselineDecidesTheSame holds the two to the same bytes.

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	mcpselect "github.com/mcp-select/mcp-select/bindings/go"
)

// inputs are results of about this size, by turns: the data twice, a block for the user, a summary that lost the data, and
// nothing to do.
func inputs(size int) []json.RawMessage {
	var all []json.RawMessage
	for i := range 64 {
		var items []map[string]any
		for item := range max(1, (size-130)/120) {
			if i%4 == 0 {
				item *= 2 // The text repeats what is here, so half as many make up the size.
				if item >= max(1, (size-130)/120) {
					break
				}
			}
			items = append(items, map[string]any{
				"id": i*1000 + item, "title": fmt.Sprintf("a title of call %d item %d", i, item), "state": "open", "score": float64(i) + 0.5,
				"owner": fmt.Sprintf("user-%d", i*7+item),
			})
		}
		data, _ := json.Marshal(map[string]any{"items": items})
		quoted, _ := json.Marshal(string(data))
		words, _ := json.Marshal(fmt.Sprintf("call %d: ", i) + strings.Repeat("plain words ", max(1, (size-110)/12)))
		var result string
		switch i % 4 {
		case 0:
			result = fmt.Sprintf(`{"content":[{"type":"text","text":%s}],"structuredContent":%s}`, quoted, data)
		case 1:
			result = fmt.Sprintf(`{"content":[{"type":"text","text":%s},{"type":"text","text":"shown","annotations":{"audience":["user"]}}]}`, words)
		case 2:
			result = fmt.Sprintf(`{"content":[{"type":"text","text":"%d found"}],"structuredContent":%s,"_meta":{"trace":"%d"}}`, len(items), data, i)
		case 3:
			result = fmt.Sprintf(`{"content":[{"type":"text","text":%s}]}`, words)
		}
		all = append(all, json.RawMessage(result))
	}
	return all
}

// The baseline: what the policies sep-2200 and lossless say for the model, as far as these inputs go, with encoding/json.
type plainResult struct {
	Content           []json.RawMessage `json:"content"`
	StructuredContent json.RawMessage   `json:"structuredContent"`
	IsError           bool              `json:"isError"`
	Meta              json.RawMessage   `json:"_meta"`
}

type plainBlock struct {
	Type        string          `json:"type"`
	Text        string          `json:"text"`
	Meta        json.RawMessage `json:"_meta"`
	Annotations *struct {
		Audience []string `json:"audience"`
	} `json:"annotations"`
}

type plainOutput struct {
	Content []json.RawMessage `json:"content"`
	IsError bool              `json:"isError,omitempty"`
}

func baseline(policy string, input json.RawMessage) (json.RawMessage, error) {
	var result plainResult
	if err := json.Unmarshal(input, &result); err != nil {
		return nil, err
	}
	changed := result.Meta != nil || result.StructuredContent != nil
	output := plainOutput{IsError: result.IsError}
	var texts []string
	for _, raw := range result.Content {
		var block plainBlock
		if err := json.Unmarshal(raw, &block); err != nil {
			return nil, err
		}
		if block.Annotations != nil && !slices.Contains(block.Annotations.Audience, "assistant") {
			changed = true
			continue
		}
		if block.Type == "text" {
			texts = append(texts, block.Text)
		}
		output.Content = append(output.Content, raw)
	}
	if policy == "lossless" && result.StructuredContent != nil {
		var value any
		if err := json.Unmarshal(result.StructuredContent, &value); err != nil {
			return nil, err
		}
		found, all := coverage(value, strings.Join(texts, "\n"))
		if float64(found) < 0.9*float64(all) {
			text, err := json.Marshal(string(result.StructuredContent))
			if err != nil {
				return nil, err
			}
			output.Content = append(output.Content, json.RawMessage(`{"type":"text","text":`+string(text)+`}`))
		}
	}
	if !changed {
		return input, nil
	}
	return json.Marshal(output)
}

// coverage counts the strings and numbers of a value that stand in a text.
func coverage(value any, text string) (found, all int) {
	switch value := value.(type) {
	case map[string]any:
		for _, member := range value {
			f, a := coverage(member, text)
			found, all = found+f, all+a
		}
	case []any:
		for _, element := range value {
			f, a := coverage(element, text)
			found, all = found+f, all+a
		}
	case string:
		all = 1
		if strings.Contains(text, value) {
			found = 1
		}
	case float64:
		all = 1
		if strings.Contains(text, strconv.FormatFloat(value, 'g', -1, 64)) {
			found = 1
		}
	}
	return found, all
}

var sizes = []int{200, 2048}

var policies = []string{"sep-2200", "lossless"}

func TestTheBaselineDecidesTheSame(t *testing.T) {
	for _, policy := range policies {
		t.Run(policy, func(t *testing.T) { baselineDecidesTheSame(t, policy) })
	}
}

func baselineDecidesTheSame(t *testing.T, policy string) {
	engine := builtin(t, policy)
	for _, size := range sizes {
		total, changed := 0, 0
		for i, input := range inputs(size) {
			total += len(input)
			selection, err := engine.Select(context.Background(), mcpselect.Request{}, input)
			if err != nil {
				t.Fatal(err)
			}
			if selection.Changed() {
				changed++
			}
			if same, err := baseline(policy, input); err != nil || !bytes.Equal(same, selection.JSON) {
				t.Errorf("%d\n  input    %s\n  engine   %s\n  baseline %s %v", i, input, selection.JSON, same, err)
			}
		}
		t.Logf("%d bytes: %d on average, %d of 64 changed", size, total/64, changed)
		if average := total / 64; average < size*8/10 || average > size*12/10 || changed != 48 {
			t.Errorf("the inputs are not what they should be")
		}
	}
}

func BenchmarkSelect(b *testing.B) {
	for _, policy := range policies {
		b.Run(policy, func(b *testing.B) { benchmarkSelect(b, policy) })
	}
}

func benchmarkSelect(b *testing.B, policy string) {
	engine := builtin(b, policy)
	ctx := context.Background()
	request := mcpselect.Request{Server: "github", Tool: "list_issues", Audience: "model", Revision: "2025-11-25"}
	prepared, err := engine.Prepare(request)
	if err != nil {
		b.Fatal(err)
	}
	for _, size := range sizes {
		inputs := inputs(size)
		run := func(name string, call func(input json.RawMessage) error) {
			b.Run(fmt.Sprintf("%s/%d", name, size), func(b *testing.B) {
				b.ReportAllocs()
				before := cpuTime()
				for i := 0; b.Loop(); i++ {
					if err := call(inputs[i%len(inputs)]); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(cpuTime()-before)/float64(b.N), "cpu-ns/op")
			})
		}
		run("encoding-json", func(input json.RawMessage) error {
			_, err := baseline(policy, input)
			return err
		})
		run("request", func(input json.RawMessage) error {
			_, err := engine.Select(ctx, request, input)
			return err
		})
		run("prepared", func(input json.RawMessage) error {
			_, err := prepared.Select(ctx, input)
			return err
		})
		buffer := make([]byte, 0, 1<<16)
		run("prepared-with-buffer", func(input json.RawMessage) error {
			_, err := prepared.Select(ctx, input, mcpselect.WithBuffer(buffer))
			return err
		})
	}
}

func BenchmarkParallel(b *testing.B) {
	engine := builtin(b, "lossless")
	inputs := inputs(200)
	request := mcpselect.Request{Server: "github", Tool: "list_issues"}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for i := 0; pb.Next(); i++ {
			if _, err := engine.Select(context.Background(), request, inputs[i%len(inputs)]); err != nil {
				b.Error(err)
				return
			}
		}
	})
}
