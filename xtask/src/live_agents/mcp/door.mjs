// Stands between the conformance checks and the door: adds the token, which the checks cannot show, and changes
// nothing else. A request that names this port means the door; any other Host is handed on as it is.
import { createServer, request } from "node:http";

const { DOOR_PORT: port, DOOR_TOKEN: token } = process.env;
const here = () => server.address().port;

const server = createServer((asked, answer) => {
  const named = (value) => value?.replace(new RegExp(`(localhost|127\\.0\\.0\\.1):${here()}$`), `127.0.0.1:${port}`);
  const headers = { ...asked.headers, authorization: `Bearer ${token}`, host: named(asked.headers.host) };
  if (headers.origin) headers.origin = named(headers.origin);
  const onward = request({ host: "127.0.0.1", port, method: asked.method, path: asked.url, headers, setHost: false }, (heard) => {
    answer.writeHead(heard.statusCode, heard.headers);
    heard.pipe(answer);
  });
  onward.on("error", () => answer.destroy());
  asked.pipe(onward);
});
server.listen(0, "127.0.0.1", () => console.log(here()));
