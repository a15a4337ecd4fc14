// Package secrettest returns credentials of every kind, and lines of logs that contain them, for tests. They are
// assembled from parts so that scanners do not report this source.
package secrettest

import "strings"

// Kind is one kind of credential.
type Kind struct {
	Name  string // of the kind
	Var   string // the usual name of the variable
	Value string // the whole value
	Parts string // what must not be seen of the value; several parts are separated by blanks
	Bare  string // a line with the value but without the variable; empty: the value is recognizable
}

// Key material that does not occur in ordinary logs.
const (
	mixed = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dF3hJ6kM9pR2tU5wX8zA1cE4fG7iL0nO3qS6uV9xY2"
	upper = "AB3DE6GH9JK2MN5PQ8ST1VW4YZ"
	hex   = "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0"
)

// Kinds returns 95 kinds of credentials.
func Kinds() []Kind {
	var list []Kind
	add := func(name, variable, prefix, value, bare string) {
		list = append(list, Kind{name, variable, prefix + value, value, strings.ReplaceAll(bare, "%", prefix+value)})
	}
	for _, k := range []struct{ name, variable, prefix, value string }{
		{"hugging face", "HF_TOKEN", "hf" + "_", mixed[:34]},
		{"hugging face organization", "HF_ORG", "api" + "_org_", mixed[:34]},
		{"openai", "OPENAI_API_KEY", "sk" + "-", mixed[:48]},
		{"openai project", "OPENAI_API_KEY", "sk" + "-proj-", mixed[:60]},
		{"deepseek", "DEEPSEEK", "sk" + "-", hex[:32]},
		{"anthropic", "ANTHROPIC", "sk" + "-ant-api03-", mixed[:60]},
		{"github", "GITHUB_TOKEN", "gh" + "p_", mixed[:36]},
		{"github app", "GITHUB_APP", "gh" + "s_", mixed[:36]},
		{"github fine grained", "GH_PAT", "github" + "_pat_", mixed[:60]},
		{"gitlab", "CI_TOKEN", "gl" + "pat-", mixed[:20]},
		{"gitlab runner", "RUNNER", "gl" + "rt-", mixed[:20]},
		{"aws id", "AWS_ACCESS_KEY_ID", "AK" + "IA", "QWERTYUIOPASDFGH"},
		{"aws temporary id", "AWS_ID", "AS" + "IA", "QWERTYUIOPASDFGH"},
		{"google", "GOOGLE", "AI" + "za", mixed[:35]},
		{"google access", "GCLOUD", "ya" + "29.", mixed[:50]},
		{"google client", "OAUTH", "GOC" + "SPX-", mixed[:28]},
		{"alibaba", "ALI", "LT" + "AI", mixed[:20]},
		{"wandb", "WANDB", "wandb" + "_v1_", mixed[:40]},
		{"slack bot", "SLACK", "xo" + "xb-", mixed[:40]},
		{"slack app", "SLACK_APP", "xa" + "pp-1-", mixed[:40]},
		{"stripe", "STRIPE", "sk" + "_live_", mixed[:24]},
		{"stripe restricted", "STRIPE_R", "rk" + "_live_", mixed[:24]},
		{"stripe hook", "STRIPE_H", "wh" + "sec_", mixed[:32]},
		{"sendgrid", "SENDGRID", "S" + "G.", mixed[:22] + "." + mixed[22:65]},
		{"mailgun", "MAILGUN", "ke" + "y-", hex[:32]},
		{"twilio", "TWILIO", "S" + "K", hex[:32]},
		{"npm", "NPM", "np" + "m_", mixed[:36]},
		{"pypi", "PYPI", "py" + "pi-AgEIcHlwaS5vcmc", mixed[:60]},
		{"docker", "DOCKER", "dckr" + "_pat_", mixed[:27]},
		{"nvidia", "NGC", "nv" + "api-", mixed[:64]},
		{"databricks", "DATABRICKS", "da" + "pi", hex[:32]},
		{"digital ocean", "DO", "dop" + "_v1_", hex[:64]},
		{"vault", "VAULT", "hv" + "s.", mixed[:60]},
		{"terraform", "TF", mixed[:14] + ".atlas" + "v1.", mixed[:67]},
		{"pulumi", "PULUMI", "pu" + "l-", hex[:40]},
		{"grafana", "GRAFANA", "gl" + "sa_", mixed[:32] + "_" + hex[:8]},
		{"new relic", "NR", "NR" + "AK-", mixed[:27]},
		{"linear", "LINEAR", "lin" + "_api_", mixed[:40]},
		{"groq", "GROQ", "gs" + "k_", mixed[:52]},
		{"replicate", "REPLICATE", "r" + "8_", mixed[:37]},
		{"shopify", "SHOPIFY", "shp" + "at_", hex[:32]},
		{"doppler", "DOPPLER", "dp" + ".pt.", mixed[:43]},
		{"postman", "POSTMAN", "PM" + "AK-", hex[:24] + "-" + hex[:34]},
		{"telegram", "TELEGRAM", "123456789" + ":AA", mixed[:33]},
		{"azure client", "AAD", "abc8Q" + "~", mixed[:34]},
		{"jwt", "JWT", "ey" + "JhbGciOiJIUzI1NiJ9.", mixed[:30] + "." + mixed[30:70]},
		{"slack webhook", "HOOK", "https://hooks." + "slack.com/services/", "T" + mixed[:8] + "/B" + mixed[8:16] + "/" + mixed[16:40]},
		{"discord webhook", "HOOK", "https://discord." + "com/api/webhooks/123456789012345678/", mixed[:68]},
		{"infura", "RPC_URL", "https://mainnet." + "infura.io/v3/", hex[:32]},
		{"age", "AGE_KEY", "AGE-SEC" + "RET-KEY-", "1" + strings.ToUpper(mixed[:58])},
		{"1password", "OP", "A" + "3-", upper[:6] + "-" + upper[6:17] + "-" + upper[17:22] + "-" + upper[3:8] + "-" + upper[9:14]},
		{"airtable", "AIRTABLE", "pa" + "t", mixed[:14] + "." + hex[:64]},
		{"authress", "AUTHRESS", "sc" + "_", "ab3d5f7h.k78j.acc-" + hex[:22] + "." + hex[:50]},
		{"bedrock", "BEDROCK", "AB" + "SK", mixed[:70] + "/" + mixed[:60] + "=="},
		{"clojars", "CLOJARS", "CLO" + "JARS_", hex[:60]},
		{"cloudflare origin", "CF", "v1" + ".0-", hex[:24] + "-" + hex[:64] + hex[:64]},
		{"facebook", "FB", "123456789012345" + "|", mixed[:27]},
		{"flutterwave", "FLW", "FLW" + "SECK_TEST-", "1a2b3c4d5e6f"},
		{"frame.io", "FRAMEIO", "fio" + "-u-", mixed[:40] + "_" + mixed[:23]},
		{"gitlab feature flag", "FLAG", "glff" + "ct-", mixed[:20]},
		{"gitlab session", "SESSION", "_gitlab" + "_session=", hex[:32]},
		{"grafana, before 9", "GRAFANA", "eyJr" + "Ijoi", mixed[:70]},
		{"harness", "HARNESS", "pa" + "t.", mixed[:22] + "." + hex[:24] + "." + mixed[:20]},
		{"intra42", "INTRA", "s-s4" + "t2ud-", hex[:64]},
		{"maxmind", "MAXMIND", "aB3d" + "E6_", mixed[:29] + "_mmk"},
		{"octopus", "OCTOPUS", "AP" + "I-", upper},
		{"planetscale", "PSCALE", "pscale" + "_tkn_", mixed[:20] + "." + mixed[20:40]},
		{"scalingo", "SCALINGO", "tk" + "-us-", mixed[:48]},
		{"settlemint", "SETTLEMINT", "sm" + "_aat_", mixed[:16]},
		{"shippo", "SHIPPO", "shippo" + "_test_", hex[:40]},
		{"sendgrid, padded", "SENDGRID", "S" + "G.", mixed[:21] + "=." + mixed[21:40] + "=" + mixed[40:63]},
		{"atlassian", "JIRA", "ATA" + "TT3", mixed[:60] + "_" + mixed[:50] + "=" + hex[:8]},
		{"1password service account", "OP", "ops" + "_eyJ", mixed[:60] + "/" + mixed[:70] + "+" + mixed + mixed[:50] + "=="},
		{"fly.io", "FLY", "fm" + "2_", mixed[:20] + "/" + mixed[:40] + "+" + mixed[:40] + "=="},
		{"aws session", "AWS_SESSION", "IQo" + "Jb3JpZ2luX2Vj", mixed[:20] + "/" + mixed + "+" + mixed},
		{"langfuse", "LANGFUSE", "sk" + "-lf-", hex[:8] + "-" + hex[8:12] + "-" + hex[12:16] + "-" + hex[16:20] + "-" + hex[20:32]},
		{"gitlab without digits", "CI_TOKEN", "gl" + "pat-", "BYKEwGBZOHdfiWu-ATKt"},
		{"slack bot of digits", "SLACK", "xo" + "xb-", "458593505039-79750388341"},
		{"mailchimp", "MAILCHIMP", "", hex[:32] + "-us12"},
		{"sonar", "SONAR", "sq" + "u_", hex[:40]},
		{"e2b", "E2B", "e2" + "b_", hex[:40]},
		{"unknown issuer", "OTHER", "", mixed[:32] + "-" + mixed[32:60]},
		{"vault, before 1.10", "VAULT", "s" + ".", hex[:24]},
	} {
		add(k.name, k.variable, k.prefix, k.value, "")
	}
	add("aws secret", "AWS_SECRET_ACCESS_KEY", "", mixed[:30]+"/+"+mixed[30:38], "aws configure set aws_secret_access_key %")
	add("wandb, hexadecimal", "WANDB_API_KEY", "", hex[:40], "wandb login --relogin %")
	add("of one case with signs", "CLOUDFLARE_TOKEN", "", "tf6u22q1g49qei-s9pv1z-gq7obmgqd"+"_uswcpzf1", "wandb login %")
	add("azure account", "AZURE_STORAGE_KEY", "", mixed[:70]+"+/a==", "DefaultEndpointsProtocol=https;AccountName=x;Account"+"Key=%;EndpointSuffix=core.windows.net")
	add("cookie", "COOKIE", "", mixed[:40], "Cook"+"ie: lang=en; session=%; theme=x")
	add("password on a command line", "DB_PASSWORD", "", mixed[:16], "mysql -u root -p% -h db")
	add("password of ssh", "SSH_PASSWORD", "", mixed[:16], "ssh"+"pass -p % ssh host")
	add("user of curl", "API_PASSWORD", "", mixed[:16], "cur"+"l -s -u me:% https://example.com")
	add("bearer", "ACCESS_TOKEN", "", mixed[:44], "sent Bea"+"rer %")
	add("padded token", "ACCESS_TOKEN", "", mixed[:43]+"=", "sent Bea"+"rer %")
	add("database", "DATABASE_PASSWORD", "", mixed[:16], "post"+"gres://me:%@db:5432/x")
	add("private key", "PRIVATE_KEY", "", mixed[:64], "-----BEGIN OPENSSH PRIV"+"ATE KEY----- % -----END OPENSSH PRIV"+"ATE KEY-----")
	return list
}

// Place is a position of a credential in a log.
type Place struct {
	Name string
	Line func(k Kind) string
}

// Places returns eleven positions.
func Places() []Place {
	form := func(name, text string) Place {
		return Place{name, func(k Kind) string {
			variable := k.Var
			if k.Bare == "" {
				variable = "x_" + strings.ToLower(variable) // the value must be recognizable
			}
			return strings.NewReplacer("%k", variable, "%l", strings.ToLower(variable), "%v", k.Value).Replace(text)
		}}
	}
	bare := func(k Kind) string {
		if k.Bare != "" {
			return k.Bare
		}
		return k.Value
	}
	return []Place{
		{"bare line", bare},
		form("KEY=VALUE", "export %k=%v"),
		form("JSON", `{"lr": 1e-5, "%l": "%v", "n": 2}`),
		form("YAML", "  %l: %v"),
		form("argv list", "['train.py', '--%l', '%v', '--lr', '1e-5']"),
		form("URL", "GET https://example.com/v1?a=b&%l=%v&c=d"),
		{"header", func(k Kind) string { return "> Author" + "ization: Bearer " + k.Value }},
		form("traceback line", `    client = Client("x", %l="%v", n=1)`),
		form("config dump", "Namespace(lr=1e-05, %l='%v', n=2)"),
		form("environment dump", "environ({'HOME': '/root', '%k': '%v', 'PATH': '/bin'})"),
		{"command line", func(k Kind) string {
			return "+ " + form("", "python train.py --%l %v --lr 1e-5").Line(k) + " # " + bare(k)
		}},
	}
}

// Leak returns a part of the credential that text shows, or "".
func (k Kind) Leak(text string) string {
	const shown = 8 // characters; fewer may be anything
	for i := 0; i+shown <= len(k.Parts); i++ {
		if strings.Contains(text, k.Parts[i:i+shown]) {
			return k.Parts[i : i+shown]
		}
	}
	return ""
}
