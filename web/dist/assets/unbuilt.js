// Takes the key out of the address, so that it stays in no history, and signs in all the same.
const key = location.hash.slice(1);
history.replaceState(null, "", location.pathname);
if (key) {
  fetch("/session", {
    method: "POST",
    headers: { "content-type": "application/json", "swarm-web": "1" },
    body: JSON.stringify({ key }),
  });
}
