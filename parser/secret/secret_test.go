package secret_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"oomscan/parser/secret"
)

// Assembled here, so that scanners do not report this file.
var (
	alnum = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dF3hJ6" // 36 characters, digits and both cases
	hex40 = "0123456789abcdef0123456789abcdef01234567"

	signed = "tf6u22q1g49qei-s9pv1z=gq7obmgqd_uswcpzf1" // of one case
)

// TestTextMasksCredentials covers forms beyond those of package secrettest.
func TestTextMasksCredentials(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, secret string }{
		"hugging face":          {"401 for token hf_" + alnum[:34] + " at hub", alnum[:34]},
		"aws secret":            {"aws_secret_access_key = " + alnum + "/+ab", alnum},
		"aws secret in env":     {"AWS_SECRET_ACCESS_KEY=" + alnum + "/+ab python train.py", "/+ab"},
		"wandb as a flag":       {"--use_wandb --wandb_key " + hex40 + " --lr 1", hex40},
		"bearer header":         {"{'Authorization': 'Bearer " + alnum + "'}", alnum},
		"bearer without digits": {"Authorization: Bearer onlywordsinhere", "onlywordsinhere"},
		"basic header":          {"authorization: Basic dXNlcjpwYXNzd29yZA==", "dXNlcjpwYXNzd29yZA"},
		"url with password":     {"clone https://me:hunter2@git.example.com/x", "hunter2"},
		"url with long user":    {"clone https://" + alnum + "@git.example.com/x", alnum},
		"redis without user":    {"redis://:s3cr3t@head:6379/0", "s3cr3t"},
		"signed url":            {"GET https://b.s3.amazonaws.com/x?X-Amz-Signature=" + hex40 + "&y=1", hex40},
		"private key":           {"-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nIBAAK\n-----END RSA PRIVATE KEY-----", "MIIEow"},
		"private key, cut":      {"-----BEGIN OPENSSH PRIVATE KEY----- b3BlbnNzaC1rZXk", "b3BlbnNzaC1rZXk"},
		"password in quotes":    {`connect(password="correct horse battery")`, "horse"},
		"password in yaml":      {"  db_password: hunter2", "hunter2"},
		"escaped json":          {`{\"api_key\": \"` + alnum + `\"}`, alnum},
		"netrc":                 {"machine api.wandb.ai login user password " + hex40, hex40},
		"database variable":     {"MYSQL_PWD=hunter2x mysqldump db", "hunter2x"},
		"ssh variable":          {"SSHPASS=hunter2x sshpass -e ssh h", "hunter2x"},
		"docker":                {`{"auths":{"ghcr.io":{"auth":"ZG9ja2VyOmh1bnRlcjJ4eQ=="}}}`, "ZG9ja2Vy"},
		"kubernetes":            {"    client-key-data: LS0tLS1CRUdJTiBSU0EgUFJJ", "LS0tLS1C"},
		"a service's token":     {"codecov_token=" + hex40[:32], hex40[:32]},
		"a list":                {"api_keys=['" + alnum + "', '" + alnum + "']", alnum},
		"second of two":         {"a_token=" + alnum + " password=zzz9zzz", "zzz9zzz"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := secret.Text(c.text)
			assert.NotContains(t, got, c.secret)
			assert.Contains(t, got, secret.Mask)
			assert.Equal(t, got, secret.Text(got), "masking twice changes nothing")
		})
	}
}

// TestTextMasksWhatAProgramOrAWordAnnounces puts a password, or a key, for each % of lines. Nothing but its place speaks of it.
func TestTextMasksWhatAProgramOrAWordAnnounces(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"+ ftp -u me:% ftp.example.com", "$ http --auth me:% GET https://example.com", "$ https -a me:% example.com/x", "+ lftp -u me,% sftp://x",
		"+ openssl enc -aes-256-cbc -d -in a -k %", "+ openssl rsa -passin pass:%", "+ openssl rsa -passout=pass:%", "['openssl', 'enc', '-d', '-k', '%']",
		"+ openssl pkcs12 -export -password pass:% -out a", "+ keytool -importcert -storepass % -keypass x% -file a",
		"+ htpasswd -b /etc/.htpasswd alice %", "+ htpasswd -nbB alice %", "+ echo % | sudo -S apt-get install x", "+ echo '%' | sudo -S -k sh",
		"+ sudo -S apt install x <<< %", "+ echo % | docker login -u me --password-stdin r", "+ echo me:% | chpasswd", "+ echo % | gh auth login --with-token",
		"+ sqlplus scott/%@//db:1521/ORCL", "jdbc:oracle:thin:scott/%@db:1521:ORCL", "dsn: me:%@tcp(db:3306)/x", "http_proxy=me:%@proxy:3128",
		"NEO4J_AUTH=neo4j/%", "auth=('me', '%')", "HTTPBasicAuth('me', '%')", "server.login('me@x.com', '%')", "credentials=('me', '%')",
		"CREATE USER 'me' IDENTIFIED BY '%';", "ALTER USER me WITH PASSWORD '%';", "Server=db;UID=sa;PWD=%;", `{"user": "me", "pass": "%"}`,
		"+ mount -t cifs //s/x /m -o user=me,pass=%", "+ podman pull --creds me:% docker://r/x", "+ skopeo copy --src-creds=me:% --dest-creds me:x% a b",
		"+ curl -sSLu me:% https://x", "+ curl --oauth2-bearer % https://x", "+ curl --cert me.pem:% --pass x% https://x", "+ twine upload -u __token__ -p % dist",
		"+ sqlcmd -S db -U sa -P % -Q x", "+ ssh-keygen -y -P % -f id", "+ ssh-keygen -N % -f id", "+ zip -P % a.zip b", "+ rar a -hp% a.rar b", "plink -ssh me@h -pw % ls",
		"+ mc alias set minio http://minio:9000 admin %", "+ rclone obscure %", "+ vault login %", "+ ngrok config add-authtoken %", "requirepass %",
		"+ kubectl create secret generic db --from-literal=db=%", "kind: Secret data: db-pass: %", "- name: DB_PASSWORD\n  value: %",
		`{"name": "DB_PASSWORD", "value": "%"}`, `{"value":"%","name":"DB_PASSWORD"}`, `<add key="DbPassword" value="%"/>`, "<password>%</password>",
		"<name>fs.s3a.secret.key</name><value>%</value>", "--conf spark.hadoop.fs.s3a.secret.key=%", "fs.azure.account.key.x.dfs.core.windows.net=%",
		"setx DB_PASSWORD %", "set -gx DB_PASSWORD %", "setenv DB_PASSWORD %", "ENV DB_PASSWORD %", `os.environ["DB_PASSWORD"] = "%"`,
		"+ gh secret set DB_PASSWORD --body %", "+ dvc remote modify --local origin secret_access_key %", "+ pulumi config set --secret dbPassword %",
		"| db_password | % |", "│ db_password   │ % │", "  wandb_api_key ............ %", "api_key -> %", "Config { password: Some(\"%\"), n: 1 }",
		"密码：%", "password is %", "Login failed for user me with password %", "ansible_ssh_pass=%", "pass_phrase=%", "psk=%",
		"ConvertTo-SecureString '%' -AsPlainText -Force", "::add-mask::%", "##vso[task.setvariable variable=x;issecret=true]%",
		"+ signtool sign /f c.pfx /p % a.exe", "+ schtasks /create /ru me /rp % /tn x", "+ winrs -r:h -u:me -p:% dir", "+ xfreerdp3 /v:h /u:me /p:'%'", "+ cmdkey /add:h /user:me /pass:%",
		"+ net use z: \\\\h\\s % /user:me", "+ net user me % /add", "pw=%", "db.pass=%", "+ ./deploy --pw % -n 1", "['x', '--pw=%']", "LDAP_BIND_PW=%", "BINDPW=%", "VOLC_SK=%",
		"+ snmpwalk -v3 -a SHA -A % -X x% h", "+ snmpget -v2c -c % h", "+ ldappasswd -w % -s x% uid=u", "+ redis-cli --pass % ping", "+ sqlcmd -U sa -P% -Q x",
		"h:5432:db:me:%", "{\"log\": \"*:*:*:me:%\\n\"}", `expect -c 'expect "assword:"; send "%\r"'`, `{"msg": "send -- \"%\\n\""}`, "Login credentials: me / %", "login with me:%",
		"https://me:a/%/b@h.example.com/x", `\\me:%@h\share`, `{"p": "\\\\me:%@h\\s"}`, "+ curl -x me:%@proxy:3128 https://x", "odbc_connect=UID%3Dsa%3BPWD%3D%%3B", "password := \"%\"", `password\t%`,
		"[sudo] password for me: %", "Password for 'https://me@h': %", "A temporary password is generated for root@h: %", "Enter PEM pass phrase: %", "root password set to %", "пароль: %", "Passwort: %",
		"[u'--api_key', u'%']", "api_key (str): %", "x('api_key', '%')", "[b'--api_key', b'%', b'x']", "SecretStr: api_key=SecretStr('%')", "{'api_key': ['%', 'x%']}", "SET PASSWORD FOR 'me'@'h' = PASSWORD('%')", `keyring.set_password("svc", "me", "%")`, "pymysql.connect('h', 'me', '%')",
		"+ pulumi config set --secret db %", "+ poetry config http-basic.x me %", "+ mkpasswd -m sha-512 %", "+ ssh-add <<< %", "+ sshpass -f <(echo %) ssh h", `"masterauth" "%"`, "> ACL SETUSER me on >% ~*",
		`{"msg": "Namespace(password=\"%\")", "n": 1}`, `{"a": "{\"b\": \"{\\\"password\\\": \\\"%\\\"}\"}"}`, `{"cmd": "mysql -p\"%\" x"}`, `["sh", "-c", "mysql -p'%' x"]`, `['wpa_passphrase', 'ssid', "%"]`,
		`[\"http\", \"-a\", \"me:%\", \"GET\"]`, "['sc.exe', 'config', 'svc', 'password=', '%']", "['htpasswd', '-cb', 'f', 'me', '%']", "{'line': '+ htpasswd -cb f me %', 'n': 1}",
		"https://x/k?q-ak=A&q-signature=%", "--cli [\"redis-server\", \"--requirepass\", \"%\"]", "C: AUTH PLAIN AG1lAFRy%==",
		"API key set to %", "your secret key is '%'.", "Logged in with the key %", `{"msg": "access token (%) has expired\n"}`, "using token %", "Invalid API key: %", "using access key me and secret %",
		"def f(self, api_key: str = '%', n: int = 1)", "hf_token: Optional[str] = '%'", `"password:\n    %\n"`, "{\n  \"password\":\n    \"%\"\n}", "me:{SHA}x%x%x%=", "+ echo % | wandb login",
		`{"cmd": "aws configure set aws_secret_access_key %\n"}`,
		"password: >-     %", `'db_password: |-\n    %'`, "db_password: !!str %", "db_password: &a %", "api_keys: [%12345, x]", `'api_keys:\n- %'`, `{"password": {"desc": null, "value": "%"}}`,
		`{"value": "%", "key": "X-Api-Key"}`, "['x-api-key', '%']", "data=%7B%22api_key%22%3A%22%%22%7D", `{\u0022api_key\u0022: \u0022%\u0022}`, `password = """%"""`,
		"│ api_key             │ % │", "访问令牌: %", `{"identitytoken":"%"}`, `['password=b\'%\'']`, `['api_key=SecretStr(\'%\')']`, `['{"api_keys": ["x%1", "%"]}']`, `'- name: DB_PASSWORD\n  value: %'`, "h\tTRUE\t/\tTRUE\t1780000000\tsid\t%",
		"+ x.py --secret-key a)x(33^&% -n 1", "DB_PASSWORD=a)b&%", "https://h/x?a=1&password=a-(&%&b=1", "f(password=a&%)", `{"x": "\u5bc6\u7801\uff1a%"}`, `{\"x\": \"\\u2502 api_key \\u2502 % \\u2502\"}`,
		"{&quot;api_key&quot;: &quot;%&quot;}", `"- name: DB_PASSWORD\n  value: \\\"%\\\""`, `{"name": "WOLFRAM_ALPHA_APPID", "value": "%"}`, "Client(kubeadm_token='%')", "cargo_registry_token=%", "+ train --inference_server_token %", "client_token: %", "cluster_join_token -> %",
		"Server=h;Uid=me;Pwd={%};", "<key>password</key><string>%</string>", `v1.EnvVar{Name:"DB_PASSWORD", Value:"%", ValueFrom:nil}`, "DB_PASSWORD          %", "spark.hadoop.fs.s3a.secret.key    %",
		`{"body": "name=\"password\"\r\n\r\n%\r\n--x"}`, "machine h login me account x password %", "GET https://h/x;jsessionid=%", `['password: str = \'%\'']`,
		"+ etcdctl --user root:% get x", "+ doctl auth init -t %", "+ influx write -t % -o x", "+ tosutil config -i=a -k=%", "demo.launch(auth=[('me', '%')])", `<entry key="api_key">%</entry>`,
		"<td>api_key</td><td>%</td>", "api_key＝%", `['python\x00--api-key\x00%\x00-n']`, `'api_key:\t\t%'`, ".dockerconfigjson: %", "args: [--model, q, --api-key, %]", "send?pushkey=%",
		"**api_key**: %", "- **Password:** %", "**API key**: %", "`api_key`: `%`", "| `api_key` | `%` | x |", "| **Password** | **%** |", "|api_key|%|", "“api_key”: “%”", "password=‘%’",
		"CREATE USER me IDENTIFIED WITH caching_sha2_password BY '%';", "ALTER USER me IDENTIFIED BY \"%\"", "CREATE USER me IDENTIFIED BY %;", "SET PASSWORD FOR me = '%'", "CREATE LOGIN me WITH PASSWORD = N'%'",
		"CREATE SECRET (TYPE S3, KEY_ID 'x', SECRET '%')", "INSERT INTO users (name, password) VALUES ('me', '%')", "user,password\nme,%", `['x', 'user,password\nme,%']`, "name,api_key,url\nme,%,https://h",
		"secret_key = <<EOF\n%\nEOF", `password = "x" -> "%"`, `proxy_set_header Authorization "Bearer %";`, "proxy_set_header X-Api-Key %;", "+ npm config set //registry/:_authToken %", "machine h password %",
		"db.example.com:6543:db:me:%", "(WorkerDict(db:5432:exp:rl:%) pid=1)", "令牌=%", `var token: string = "%"`, "apikey %", "sas_token: %", "oauth_token=%", "deploy_token: %", "--jwt-token %", "python^@--api-key^@%^@-n", "- \"--api-key\"\n- \"%\"", "+ echo % | passwd me --stdin",
	} {
		const password = "Tr0ub4dor"
		got := secret.Stable(strings.ReplaceAll(line, "%", password))
		assert.NotContains(t, got, password)
	}
	for _, line := range []string{
		"--use_wandb " + hex40, "run_token=st.1d715f29f0f8e9feb7ababbb.148d9f5c3012f0a1", "openxlab_sk: " + hex40, "X-CSRFToken: " + hex40, "AUTHORIZATION: basic " + hex40,
		"siliconflow: sk-" + "mqgojtxtcomoceitylcobdumwkoriprstxvzlduzrnyrvbnx", "https://api.day.app/" + alnum[:22] + "/oom", "x_api_key=sk_" + alnum[:32] + "_3i5",
		"client = " + hex40[:32] + ".aB3dE6gH9jK2mN5p", "token is eyJhcGlfYWRk" + alnum + alnum, "ak=" + hex40[:32] + " x", "sk=" + hex40[:32], "+ wandb login local-" + hex40,
		`Digest username="me", response="` + hex40[:32] + `"`, "Private-MAC: " + hex40, "https://api.telegram.org/bot123456789:AA" + alnum[:33] + "/send", "me:$apr1$abcd$" + alnum[:22],
		"+ heroku auth:token " + hex40, "Incorrect API key provided: " + hex40[:32] + ".", "-Dsonar.login=" + hex40,
		alnum[:20] + "/" + alnum[4:24] + "+" + alnum[10:32], "sessionid=" + hex40[:32] + "; Path=/",
		"COMET INFO: api key " + alnum, "https://conda.anaconda.org/t/x-" + hex40 + "/ch", "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ",
		"kernel: Killed process 7713 (hf_" + alnum[:12] + ") total-vm:1kB", "hf_" + alnum[:12], "tokens: [" + hex40[:20] + ", x]", "'--huawei-ak', 'SCPERBT96UCZIIOMYIBK'", "key: " + alnum[:35] + "/" + alnum[:7] + "=", "MII" + "EvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIB" + alnum[:16], "aB3dE6gH/mK2mNpQ+sTvW4yZbCdFhJ/wQz7Lr+Xt",
		"p75M6RJHDn3OgzL", "kernel: Killed process 7713 (j+gATRuT7zjnCbr) total-vm:1kB", "sk-a2f2a3539a77", "_auth=p75M6RJHD", "dp.pt.ZQyQrqlnl", "access_key: KTEzgEDBKQQAYCKvPGhtgTHAfqeBKm", "api_key: argilla.aBdEgHjK",
		"uYj87Ku0WMDCdbWS_" + "GISW5TlohtZckgdbMZJya17bnU", "see v2.public.aB3dE6gHjK-mN5pQsTvW4yZbCdFhJ_wQz7LrXt9aB3", "xJq7RtWkLbNvYcZ" + "sPdFgHmKnAeUo",
		"args:\n- --api-key\n- " + hex40[:22], "[client.admin] key = AQctb801ihFWVPPnxFYoxFVIVBOZ/" + "5qJXSQZIhxw==", "HF_TOKEN " + hex40[:22], "WANDB_API_KEY," + hex40[:22], "set-header X-Api-Key " + hex40[:22] + ";", "AKIA" + "QWERTYUIOPASDFGH:" + hex40[:22], "s3('b', 'AKIA" + "QWERTYUIOPASDFGH', '" + hex40[:22] + "')",
		"AKIA" + "QWERTYUIOPASDFGH,QEjFTiNqhuIEE1U/bIfdSqwcNGePTolFLbwlXLfN", `{"name": "CLARIFAI_PAT", "value": "3e46f68c2be10436` + `bcc2160ecd9ce07c"}`, "(WorkerDict(WANDB_API_KEY," + hex40[:22] + ") pid=1)",
		"K10" + alnum + "::server:" + hex40[:32], "AWS Secret Access Key [None]: " + hex40[:22], "https://mm.example.com/hooks/" + hex40[:26], "https://hooks.zapier.com/hooks/catch/12345678/" + hex40[:16], "https://hook.eu1.make.com/" + hex40[:32],
		"...ey=" + alnum[:16], "...588e6069efef" + "fc1b27fc5e81f4e3e12", "...4e51-4177-90e7-d74b1bd1b07f", "... 588e6069efef" + "fc1b27fc5e81f4e3e12", "repr=<W api-66129200-4e51-4177-90e7-" + hex40[:12] + ">", "repr=<W 1000." + hex40[:32] + "." + hex40[:32] + ">", "tok = ***_r5OZMz0ULktjxaXqqQaqkeu68DJKBAsbiydb2cxBA", "token: *** *** B3Ybdct- *** qnvleC1Mtnftg", `"eyJzdWIiOiAi` + `NmVmOGE2NDc0MiIsICJleHAiOiAxNz." + x`,
		"https://" + hex40[:32] + ":@sentry.io/42", "fal_key: run-01234567-4177-90e7-cdef-0123456789ab", "sent Bearer 4p81zs9bc2n1uhflbuwfpu", "DB_PASSWORD          BijzcgCkkkgtpqMDkW", "x?auth=" + hex40, "bce-v3/ALTAK-TW",
		"https://hc-ping.com/01234567-89ab-cdef-0123-456789abcdef/fail", "SEC" + hex40 + hex40[:24], "napi_" + hex40, "WANDB_API_KEY: TWFwbGVjbHVz" + "dGVyNzAwMg==", "fal_key: 66129200-4e51-4177-90e7-d74b1bd1b07f:c6f85b930cc3" + "458b196c2e14144e5454",
		"redirect=https%3A%2F%2Fme%3A" + alnum[:16] + "%40h.example.com%2Fx", "GCP_SA=eyJ0eXBlIjogInNlcnZpY2VfYWNjb3VudCIsICJwcml2YXRlX2tleSI6ICItLS0tLUJFR0lOIFBSSVZBVEUgS0VZLS0tLS1cbk1JSUV2UUlC",
	} {
		got := secret.Stable(line)
		assert.Contains(t, got, secret.Mask)
		for _, part := range []string{hex40[:16], alnum[:16], "aB3dE6gH", "AEbm9uZQ", "9f5c3012", "mqgojtxt", "_3i5", "p75M6RJH", "gATRuT7z", "a2f2a353", "ZQyQrqln", "KTEzgEDB", "aBdEgHjK", "TUlJRXZR", "1JSUV2UU", "ckgdbMZJ", "TWFwbGVj", "c3458b19", "bIfdSqwc", "FWVPPnxF", "2be10436", "4177-90e7", "89ab-cdef", "sTvW4yZb", "WkLbNvYc", "0ULktjxa", "fc1b27fc", "B3Ybdct-", "C1Mtnftg", "NmVmOGE2", "4p81zs9b", "CkkkgtpqMD", "ALTAK-TW"} {
			assert.NotContains(t, got, part)
		}
	}
}

// TestTextMasksWhatHasAnAmbiguousName puts values that look drawn at random behind names that may mean something else. The same names
// before other values stay.
func TestTextMasksWhatHasAnAmbiguousName(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"KEY=%", "key: %", `{"key": "%"}`, "--key %", "key -> %", "<key>%</key>", "| KEY | % |", "KEY     %", "key\t%", "key %", "using key %", "[KEY] %", "sk: %", "PAT=%", "login: %",
		"pass = %", "pass: %", "pass %", "PASS     %", "pwd %", "auth: %", `"auth": "%"`, "AUTH=%", "auth %", "auth     %", "creds=%", "cred: %", "LICENSE=%", "hmac=%", "TOKEN\t%", "TOKEN     %",
	} {
		for _, value := range []string{"Zq7Lm2Xv9Tk4", alnum[:20], "kLmQzXwRtYv" + "BnPsDfGhJ", "k3j9x2m7q4w8" + "z1p6r5t0y2u9"} {
			got := secret.Stable(strings.ReplaceAll(line, "%", value))
			assert.NotContains(t, got, value[:8], line)
		}
	}
	for _, line := range []string{"KEY=%", "key: %", `{"key": "%"}`, "--key %", "key -> %", "<key>%</key>", "| KEY | % |", "key %", "using key %", "sk: %", "login: %", "auth: %", "LICENSE=%", "cred: %"} {
		for _, value := range []string{"prompt", "forward", "A100PCIe80GB", "Qwen2VL7B", "apache-2.0", "BF16xFP8", "none", "TokenClassification", "GPU-3f2504e0"} {
			text := strings.ReplaceAll(line, "%", value)
			assert.Equal(t, text, secret.Stable(text))
		}
	}
	for _, text := range []string{"found key 3f2504e0-4f89-41d3-9a0c-0305e82c3301 in the cache", "var key openSSHEd25519PrivateKey", "missing key model.layers.0.self_attn.q_proj.weight"} {
		assert.Equal(t, text, secret.Stable(text))
	}
}

// TestTextMasksAnyKeyWithSigns puts keys of the signs that issuers use behind names that may be a model's too.
func TestTextMasksAnyKeyWithSigns(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"jupyter_token = %", "export MY_AUTH=%", "['train.py', '--pat', '%', '--lr', '1']", `{"key": "%"}`, "?x=1&inference_token=%&y=2", "  X-Auth: %", "| auth | % |", "key -> %", "using key %", "signing_key: %", "using acme_api_token %",
	} {
		for _, value := range []string{"rfzd1GH9VhBmgrzDwjm8PVg2C4-r_TzbTPOzSOgSMEI", "QC8YxIhPtvPnbx~fS9V=G=oZbf3~cVsW", "mf82fJ51+r4=KkCo~RMww/TVSnlS9vNg", "wQ3.xT-9bLk_Yp2~Rf7/Vz+4Hs", "2SGpExMDGS_cVp=2D.vv5O7F"} {
			assert.NotContains(t, secret.Stable(with(text, value)), value[:8], text)
		}
	}
	for _, text := range []string{
		"sort_key: GPU-A100-SXM4-80GB_bf16_TP8_PP4_EP2", "key=Qwen/Qwen2.5-VL-7B-Instruct-GPTQ-Int4", "key: deepseek-ai/DeepSeek-R1-Distill-Qwen-1.5B", "auth: mlx-community/Meta-Llama-3.1-8B-Instruct-4bit",
		"key: RedHatAI/Qwen2.5-VL-72B-Instruct-FP8-dynamic", "next_key=ViT-B-16-SigLIP2-384.webli_v2", "key=Llama-3.2-11B-Vision-Instruct-QLORA_INT4_EO8",
	} {
		assert.Equal(t, text, secret.Stable(text))
	}
}

func with(text, value string) string { return strings.ReplaceAll(text, "%", value) }

// TestTextMasksElementsOfXML puts a password for each %.
func TestTextMasksElementsOfXML(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"value on a line of its own":  "<password>\n  %\n</password>",
		"escaped ends of lines":       `<password>\n\t%\n</password>`,
		"attributes":                  `<password type="plain">%</password>`,
		"attributes, several lines":   "<password\n  type=\"plain\">\n  %\n</password>",
		"namespace":                   "<ns:password>%</ns:password>",
		"CDATA":                       "<password><![CDATA[%]]></password>",
		"CDATA, several lines":        "<password>\n<![CDATA[%]]>\n</password>",
		"several words":               "<password>correct % battery</password>",
		"property of Hadoop":          "<property>\n  <name>fs.s3a.secret.key</name>\n  <value>\n    %\n  </value>\n</property>",
		"property list":               "<key>\npassword\n</key>\n<string>\n%\n</string>",
		"attributes on several lines": "<param name=\"password\"\n  value=\"%\"/>",
		"value inside a parameter":    "<Parameter Name=\"ApiKey\">\n <Value>%</Value>\n</Parameter>",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := secret.Stable(strings.ReplaceAll(text, "%", "Tr0ub4dor"))
			assert.NotContains(t, got, "Tr0ub4dor")
			assert.NotContains(t, got, "battery")
		})
	}
	for _, text := range []string{"<td>layer</td>\n<td>12</td>", "<name>dfs.replication</name>\n<value>3</value>", "<key>model</key>\n<string>qwen2</string>", "usage: login <user> <password>\n  Log in"} {
		assert.Equal(t, text, secret.Stable(text))
	}
}

func TestTextMasksASecretOfKubernetes(t *testing.T) {
	t.Parallel()
	const value = "aHVudGVyMi1zdGFwbGU="
	for name, text := range map[string]string{
		"in YAML":                     "kind: Secret\nmetadata:\n  name: db\ndata:\n  host: %\n  dsn: \"%\"\n",
		"in YAML, the kind behind":    "apiVersion: v1\ndata:\n  host: %\nkind: Secret\n",
		"in a list":                   "items:\n- apiVersion: v1\n  data:\n    host: %\n  kind: Secret\n",
		"as plain text":               "kind: Secret\nstringData:\n  host: %\n  app.yaml: |\n    type: %\n",
		"escaped":                     `{"msg": "kind: Secret\ndata:\n  host: %\n  dsn: %\n"}`,
		"in JSON":                     `{"apiVersion":"v1","data":{"host":"%","dsn":"%"},"kind":"Secret"}`,
		"in JSON, on several lines":   "{\n  \"kind\": \"Secret\",\n  \"data\": {\n    \"host\": \"%\"\n  }\n}",
		"in escaped JSON":             `{\"data\":{\"host\":\"%\"},\"kind\":\"Secret\"}`,
		"in JSON that was cut":        `{"kind":"Secret","data":{"host":"%`,
		"as the client of Python has": "{'api_version': 'v1',\n 'data': {'host': '%'},\n 'kind': 'Secret'}",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := secret.Stable(strings.ReplaceAll(text, "%", value))
			assert.NotContains(t, got, value[:8])
			assert.Contains(t, got, "kind")
			assert.Equal(t, got, secret.Text(got))
		})
	}
	for _, text := range []string{
		"kind: ConfigMap\ndata:\n  lr: text", "kind: SecretStore\ndata:\n  lr: text", `{"kind":"Pod","data":{"host":"x"}}`,
		"data:\n  train_files: gsm8k\nkind: Secrets",
	} {
		assert.Equal(t, text, secret.Stable(text))
	}
}

// TestTextMasksWhatScannersKnow has forms of which a rule set of a scanner knows more than the usual one.
func TestTextMasksWhatScannersKnow(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ text, secret string }{
		"behind a name, short":                      {"using airtable_api_key z9mow4925kos346h4", "z9mow4925kos346h4"},
		"behind a secret's name":                    {"INFO using asana_client_secret " + hex40[:32], hex40[:32]},
		"of digits alone":                           {"DISCORD_CLIENT_SECRET=74863244779389212083347488944598", "74863244779389212083347488944598"},
		"of digits, in YAML":                        {"  discord_client_secret: 74863244779389212083347488944598", "74863244779389212083347488944598"},
		"appended":                                  {`$mailgun_api_token .= "a1b2c3d4e5f6a7b8"`, "a1b2c3d4e5f6a7b8"},
		"assigned by make, if not set":              {"API_SECRET ?= a1b2c3d4e5f6a7b8", "a1b2c3d4e5f6a7b8"},
		"assigned by make, at once":                 {"API_SECRET ::= a1b2c3d4e5f6a7b8", "a1b2c3d4e5f6a7b8"},
		"assigned by make, and escaped":             {"API_SECRET :::= a1b2c3d4e5f6a7b8", "a1b2c3d4e5f6a7b8"},
		"logged in with":                            {"+ wandb login ab_cdefghi1jkl2mnopqrst-uvwxyz01", "cdefghi1"},
		"an app of Facebook":                        {"app 1308742762612587|rhoK1cbv0DOU_RTX_87O4MkX7AI", "rhoK1cbv0DOU_RTX_87O4MkX7AI"},
		"PlanetScale, of one case":                  {"x pscale" + "_oauth_xbtf24vnjydhqc_c1elfx_i15-u-hypp", "xbtf24vnjydhqc"},
		"Duffel, of one case":                       {"x duffel" + "_test_0t0we6n6y-4-z1oox9c-964pl7n3g5_03p7z_2c=oi0", "964pl7n3g5"},
		"Sentry, behind its claims":                 {"x sntrys" + "_eyJpYXQiOjMxMywidXJsIjoiaHR0cHM6Ly95dE53c1NFeHRMIn0=_neAzdGalua68e3SKA+JkwmoujgAoKXVEOKmdkmVgSY+", "JkwmoujgAoKX"},
		"of one case, with signs, as an argument":   {"['train.py', '--cloudflare_key', '" + signed + "']", signed[:8]},
		"of one case, with signs, in YAML":          {"  render_token: " + signed, signed[:8]},
		"of one case, with signs, behind login":     {"+ wandb login " + signed, signed[:8]},
		"of one case, with signs, in a sentence":    {"INFO using netlify api key " + signed, signed[:8]},
		"with points, behind login":                 {"+ mapbox login pk." + signed[:12] + "." + hex40[:30], hex40[:30]},
		"with any signs":                            {"freemius_key = 'sk_ubb4yN3mzqGR2x8#P7r5*xCutE'", "P7r5"},
		"encoded for a URL":                         {"twitter_token = AAAAAAAAAAAAAAAAAAAAAAkMnsA236MDMQeJYN%" + "2FaB3dE6gH%2F6uKy6cclNw", "6uKy6cclNw"},
		"of a Go variable with a type":              {`var acmeToken string = "` + hex40 + `"`, hex40[:16]},
		"of a Go constant with a type":              {`const apiKey string = "correct horse"`, "horse"},
		"between backticks":                         {"acmeToken := `" + hex40 + "`", hex40[:16]},
		"short, behind a service's token":           {`airtableToken = "ytm6smw3gqiekeite"`, "ytm6smw3"},
		"short, behind a service's key":             {"--dropbox-key pkb7iftg5jpatmg", "pkb7iftg"},
		"short, behind a service in capitals":       {`var ETSYToken = "bpyx2yoe1c77pp9owo5jvewc"`, "bpyx2yoe"},
		"below a header behind a message":           {"ValueError: see | name | api_key |\\n|---|---|\\n| prod | " + hex40 + " |", hex40[:16]},
		"short, behind a name and a blank":          {"INFO using render_api_token q7ab3xk29mfz4", "q7ab3xk2"},
		"behind a service's name, in YAML":          {"sentry: " + hex40 + hex40[:24], hex40[:16]},
		"behind a service's name, in JSON":          {`{"snyk": "12345678-abcd-abcd-abcd-1234567890ab"}`, "12345678-abcd"},
		"behind a service's name, in a variable":    {"export DATADOG=" + hex40, hex40[:16]},
		"behind a service's name and key":           {"the sentry key " + hex40, hex40[:16]},
		"behind a service's name in a list":         {`("artifactory", "` + signed + `")`, signed[:8]},
		"of a server of gems":                       {"BUNDLE_GEMS__EXAMPLE__COM=cafebabe:deadbeef", "deadbeef"},
		"the user of a URL, which is half of a key": {"http://cafeb4b3:d3adb33f@enterprise.example.com/", "cafeb4b3"},
		"a password in quotes behind the user":      {`curl -X POST --user "me@x.com":"{ZqL5kVrX1n8tA2}" -d a`, "ZqL5kVrX"},
		"a password alone in quotes":                {`curl --user me@x.com:'pRf7vG2h1L8nQkW9' -d a`, "pRf7vG2h"},
		"a flag on the next line of a command":      {"$ curl https://h/oauth2/token \\\n  --user c28wlsosanujy2z:qgsnai0xokrw4j1 --data x", "qgsnai0x"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.NotContains(t, secret.Stable(tc.text), tc.secret)
		})
	}
	for _, text := range []string{
		"sorted by cache_key qwen2-7b-fsdp2-lora16-sp4", "max_token 123456789012345678", "eos_token=12345678901234567890", "a ?: b, x == y, key != value", "12345678|87654321", "wandb login failed, the run goes on",
		"sentry: event 4 of 5 was dropped", "datadog: trace_id=" + hex40, "linear: " + hex40, "linear_key: attention8 notion_token: vocab16k", "github: " + hex40,
		"page_token: qwen2.5-7b-instruct-a10g-4x8 sort_key: data/gsm8k/train-00000-of-00001 layer_key: mp4/layer3.h100x8.q4bit", "+ docker login registry1.example2.com:5000",
		"using auth backend0.server1.local2.example3.com", "model_key=Qwen/Qwen2.5-VL-7B-Instruct-GPTQ-Int4", `wandb: "8k2j4h6g"`, "the sentry key is not set", `fmt: string = "x"`,
	} {
		assert.Equal(t, text, secret.Stable(text))
	}
}

func TestTextKeepsOtherWords(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"commit " + hex40,
		"(WorkerDict pid=12, ip=10.0.0.1, actor_id=4b1c2d3e4f5a6b7c8d9e0f1a01000000, repr=<x>)",
		"Node ID: 4b1c2d3e4f5a6b7c8d9e0f1a2b3c4d5e6f708192a3b4c5d6e7f80912, node_id=" + hex40,
		"sha256:" + hex40 + hex40[:24] + " checksum=" + hex40 + " md5=0123456789abcdef",
		"/models/hf_llama_3_1_8b_instruct_finetuned_checkpoint/task-specific-evaluation-dataset-v2/global_step_10",
		"eos_token_id=128009 pad_token='<|endoftext|>' eos_token: </s> EOS_TOKEN=<|im_end|> max_token=4096 token: 128009",
		"Input token: 4096 exceeds max; KeyError: 'reward_model', key: prompt, cache_key=abc, prompt_key=question",
		"Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.00 GiB is free.",
		"PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True http://10.0.0.1:8000/v1/completions@x",
		"s3://bucket/run-0123456789/epoch=3-step=1000.ckpt git@github.com:org/repo.git",
		"cmd = python -u -m deepspeed.launcher.launch --world_info=eyJsb2NhbGhvc3QiOiBbMCwgMSwgMiwgMywgNCwgNSwgNiwgN119 --master_port=29500",
		"frame #3: _ZNSt6vectorIN2at6TensorESaIS1_EE + 0x2f and _ZN5torch8autograd6Engine17evaluate_functionERSt10shared_ptrINS0_9GraphTaskEE",
		"Qwen2_5_VLForConditionalGeneration Qwen3VLMoeTextSparseMoeBlockForConditionalGeneration cross-encoder/ms-marco-MiniLM-L-6-v2",
		"/tmp/TestALogReadHereIsToldFromOneOfItsName1064841465/001/rank_0.log",
		"special token: [PAD], image_token: [unused12, unused13], next_key=step_10_of_20_run_7 reward_key: verl.reward_1, stop_token: - </s>",
		"sort_key=step_token_level_reward_mean next_token=128009 page_token=none",
		"wandb: Syncing run vibrant-sun-42 https://wandb.ai/team/project/runs/8k2j4h6g",
		"Basic blocks, basic authentication-free; Bearer tokens are not used here",
		"Unexpected token: identifier at line 3; token=None api_key=null password='' HF_TOKEN=$HF_TOKEN --api-key --tp 8",
		"torch.OutOfMemoryError: CUDA out of memory. token: expected",
		`+ openssl enc -k 5 -in x`,
		`+ ls -k 5 && grep -k word file`,
		`+ python train.py -k 5 --auth none --top-k 20`,
		`+ torchrun --rdzv_endpoint=head:29500 --auth none train.py`,
		`+ docker run -u 1000:1000 -p 8080:80 -v /data:/data img`,
		`+ srun -p gpu -k --mpi=none -N 4 -n 32 python t.py`,
		`+ sbatch -p debug -A proj -w node[01-04] job.sh`,
		`+ ssh -p 22222 login train.sh`,
		`+ mkdir -p /scratch/run/ckpt && cp -a /a /b`,
		`+ mysql -P 3306 -h db`,
		`+ openssl req -new -key server.key -out server.csr -keyout other.pem`,
		`+ echo start | tee -a run.log`,
		`+ echo 3 | sudo tee /proc/sys/vm/drop_caches`,
		`+ python -u train.py --user me --login yes`,
		`+ ftp -u 10`,
		`http://10.0.0.1:8000/v1/x -a log:3`,
		`pass=3 num_pass=2 second_pass=forward pass: backward forward_pass: 12.5 ms`,
		`USER=me PWD=/home/me/run OLDPWD=/home/me`,
		`password authentication failed for user "me"`,
		`HF_TOKEN is not set; the password is required`,
		`token_embedding -> 4096, key -> value, eos_token -> </s>, num_key_value_heads ... 8`,
		`| cache_key | 5 | pad_token | 0 |`,
		`| layer_key | weight | value_proj |`,
		`key_value_heads ......................... 8`,
		`pad_token_id ............................ 0`,
		`set key to value`,
		`+ git config set user.name me`,
		`dataset set to train, token count 128`,
		`WANDB_API_KEY not set, set WANDB_MODE offline`,
		`password_file: /run/secrets/db   ssh_key_path=/root/.ssh/id --password-stdin ok token_type=bearer secret_name=db`,
		`auth: none basic_auth=None credentials=(None, None)`,
		`{"name": "layers.0.weight", "value": "0.25"}`,
		`- name: NCCL_DEBUG`,
		`name: tokenizer_key, value: prompt`,
		`d41d8cd98f00b204e9800998ecf8427e.safetensors d41d8cd98f00b204e9800998ecf8427e.0123456789012345`,
		`> AUTHOR me`,
		`conda https://conda.anaconda.org/t/<TOKEN>/pytorch`,
		`File "/usr/lib/python3/site-packages/x/t/test_long_name_of_a_module/x.py", line 3`,
		`ENV NCCL_DEBUG INFO`,
		`ENV PATH /usr/local/bin`,
		`setenv CUDA_VISIBLE_DEVICES 0,1`,
		`torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 ... password`,
		`psk=4 ak=3 sk=128 sk=causal bearer=none`,
		`optimizer.step() -> 12 ms | loss 0.5 | tokens 4096 | key 5 |`,
		`input token 0123456789 of 4096 and key abc`,
		`max_token -> 4096 stop_token -> 2`,
		`cat password | sudo -l`,
		`Estimated FLOPs per token: 4.945e+09, time per token: 0.01234ms/it`,
		`if token == "{" and password == None:`,
		`+ net use`,
		`pw = Piecewise((x, x < 1)) pw=3.5 pr, pw := io.Pipe() conv_pw=Conv2d pass=12.5ms pass=forward`,
		`http://10.0.0.1:8000/v1/x@y docker://r:5000/x@sha256:0123 http://[::1]:8000/x@y file://C:/x@y`,
		`"pattern": "^arn:\\w{12}:.@\\-_/]+$"`,
		`12:54:03:INFO:x:done fe80:5432:ab:cd:ef01 rank:0@node:29500`,
		`the user may pass a function; user pass 2; login: me / you`,
		`    password string`,
		`['a', 'b', "c"] {"a": ["x", "y"], "b": "\"z\""}`,
		`send "a b\r"`,
		"using token ids 151643 and token 0x7f3a2b1c9d0e, loss per token 12345678, next token layer12output, the secret length", "using API keys of 40 characters; API key must be 40 characters long, yours was 36",
		"using token-level rewards2, token model3.layers2: logged in with key prompt", "def f(pad_token: str = '<pad>', sort_key: str = 'a1', n: int = 5, name: str = 'x')",
		"Killed process 7713 (hf_trainer_main)", "hf_trainer_main", "re_train2_worke", "sk-learn-train.p", "pa-server-2025-", "ThreadPoolForeg", "SECURITYAGENT01", "WandbGrpcServer", "secret: KubernetesSecretReference", "access_key: MyAccessKeyName",
		"pad_token          <|endoftext1|>", "num_key_value_heads    attention8", `name="layer_key"` + "\n\n" + "attention8",
		"tokens: [4096, 128] max_tokens: [4096] tokens: 12 tokens: [layer12output, step_10_of_20] missing_keys: [layers.0.self_attn1.q_proj.weight, x]", `C:\users\u5bc6\me "tokens": 4096`,
		"secret 'db' not found", "  --api-key\n      The key2 of the server", "| `HF_TOKEN` | Your token |", "***:8080/v1/models", "[--lr, 5, --eos_token, x]", "the cache_key checkpoint-20001234-abcdefghijkl", "/hooks/pre_commit_hook_of_the_repo.py", `C:\token\x00`, "func TestNvDevice_GetFabricState_V3FallbackToV1(", "IoK8sApiCoreV1AzureFilePersistentVolumeSource.from_dict(x)", "AddMemBlockAndMemBufByEagerFree]", "password:\n    user: me", "lease ID=21f90e3920da0919472c7a0dadff88b59ad01b96a20e93b508588823, /data/Users/JohnDoe/Projects/Qwen2VL/RunA1B2/Checkpoints",
		"- **Password:** Configure your client", "| `password` | Database password | `None` |", "**secretKey** | [**io.k8s.V1SecretKeySelector**](x) |", "-v `pwd`:/work1", `grep "password\|secret\|token" a | b`, "proxy_set_header X-Access-Token $token;",
		"| HF_TOKEN | When set |", "...ping/nano-gpt-env/bin/python3", "...hon_vllm_env_072/bin/python", "...   a1 = b", "... step123456 of 2026", "... python3.10", "... vllm-worker-12", "api-66129200-4e51", "*** $PY312_VERSION *** $PY312_VERSION", `key: "[custom-gpu-1.com/gpu, custom-gpu-2.com/gpu"`, "GRANT x IDENTIFIED BY PASSWORD", "name, key\nlayer, 12",
	} {
		assert.Equal(t, text, secret.Text(text))
	}
}

func FuzzText(f *testing.F) {
	f.Add("password=x token: y")
	f.Add("--api-key '--api-key' \"x\\\"")
	f.Add("://:@ Bearer Basic -----BEGIN PRIVATE KEY-----")
	f.Fuzz(func(t *testing.T, s string) {
		once := secret.Text(s)
		assert.LessOrEqual(t, len(once), len(s)+len(secret.Mask)*(strings.Count(s, "=")+strings.Count(s, ":")+strings.Count(s, "-")+strings.Count(s, "_")+strings.Count(s, " ")+2))
	})
}

func BenchmarkTextOfAnErrorMessage(b *testing.B) {
	s := "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.00 GiB is free. Including non-PyTorch memory, this process has 78.00 GiB memory in use. See https://pytorch.org/docs/stable/notes/cuda.html#environment-variables"
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		secret.Text(s)
	}
}

// TestTimeIsLinear masks long runs of prefixes of credentials, and the same runs in 64 parts. These take as long if the time is
// linear, and a 64th part of it if the time is quadratic. Other programs slow down both, and one of three comparisons is enough.
func TestTimeIsLinear(t *testing.T) {
	t.Parallel()
	const parts, size = 64, 640
	measure := func(text string, times int) time.Duration {
		begin := time.Now()
		for range times {
			secret.Stable(text)
		}
		return time.Since(begin)
	}
	for _, unit := range []string{"---", "curl -u a ", "'--api_key', ", "Cookie: a", "://a:", `\"`, "hf_", "set x_key ", `\`, "['a', ", `["`, "logged in ", "token is ", "x: str[", "password:\n ", "***:", "x_KEY ", "<td>a", "[-a, ", "Ab1-", "a,", "*** ", "**", "<a ", "<a></", "kind: Secret\ndata:\n ", "data: {kind: Secret ", "auth: {", "auth:\n ", "| key | a |\n", "a.key.b=c ", "key\\n\t", "a_key got '", "a_key:\n desc: ", "a\n b[type=c, input_value='", "%2F", "12345678:"} {
		part := strings.Repeat(unit, size/len(unit))
		linear := false
		for range 3 {
			linear = linear || measure(strings.Repeat(part, parts), 1) < parts/8*measure(part, parts)
		}
		assert.True(t, linear, unit)
	}
}

// TestClipMasksBeforeItCuts cuts texts with credentials at every fifth length, or at all if OOMSCAN_TEST_ALL is set.
func TestClipMasksBeforeItCuts(t *testing.T) {
	t.Parallel()
	step := 5
	if os.Getenv("OOMSCAN_TEST_ALL") != "" {
		step = 1
	}
	for _, key := range []string{
		"hf_" + alnum[:34], "sk-proj-" + alnum, "ghp_" + alnum, "AKIA" + "ABCDEFGHIJKLMNOP", "eyJhbGciOiJIUzI1NiJ9." + alnum + "." + alnum,
		"password=" + alnum, "db_password: hunter2hunter2", "https://me:" + alnum + "@git.example.com/x", "--api-key " + alnum, `"token": "` + alnum + `"`,
		"password: nonesuch", "a:b,password:nullable1", strings.Repeat("password=x9 ", 9),
	} {
		for _, text := range []string{
			"lost " + key + " and more words", strings.Repeat("word ", 30) + key + " " + key, strings.Repeat("x", 300) + "," + key + strings.Repeat("y", 40), key,
		} {
			for limit := 0; limit < len(text)+2; limit += step {
				got := secret.Clip(text, limit)
				assert.LessOrEqual(t, len(got), limit, "%q", text)
				assert.Equal(t, got, secret.Text(got), "%q at %d", text, limit)
				assert.Equal(t, got, secret.Clip(got, limit), "%q at %d", text, limit)
				for n := 0; n+8 <= len(alnum); n += 4 {
					assert.NotContains(t, got, alnum[n:n+8], "%q at %d", text, limit)
				}
			}
		}
	}
}

func FuzzClip(f *testing.F) {
	f.Add("password: nonesuch token=x", 13)
	f.Add("--api-key '--api-key' \"x\\\"", 9)
	f.Add("password=x password=y", 11)
	f.Fuzz(func(t *testing.T, s string, limit int) {
		if limit < 0 || len(s) > 1<<12 {
			t.Skip()
		}
		got := secret.Clip(s, limit)
		assert.LessOrEqual(t, len(got), limit)
		assert.Equal(t, got, secret.Text(got))
	})
}
