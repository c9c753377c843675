// Pictures of the pages: for the guide, or of every route at every size for whoever wants to look (`PICTURES=FOLDER npm run e2e pictures`).
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { settle } from "./worlds.mjs";

const GUIDE = fileURLToPath(new URL("../../docs/pictures", import.meta.url));

/** Which page the guide shows, and how large. */
const SHOWN = [
  ["overview", "/", 1280, 800],
  ["review", "/tasks/2.1?tab=diff", 1280, 800],
  ["trunk", "/trunk?path=README.md&line=2", 1280, 480],
  ["phone", "/attention", 390, 700],
];

async function shoot(page, base, route, [width, height], path) {
  await page.setViewportSize({ width, height });
  await page.goto(base + route);
  await settle(page);
  await page.screenshot({ path, animations: "disabled" });
}

/** Only on demand: two pictures of the same page are seldom the same bytes. */
export async function pictures({ page, base, door, open, browser }, routes, sizes) {
  const folder = process.env.PICTURES;
  if (!folder) return;
  if (folder === "guide") {
    mkdirSync(GUIDE, { recursive: true });
    for (const [name, route, width, height] of SHOWN) await shoot(page, base, route, [width, height], join(GUIDE, `web-${name}.png`));
    return;
  }
  mkdirSync(folder, { recursive: true });
  for (const scheme of ["light", "dark"]) {
    const context = await browser.newContext({ colorScheme: scheme });
    const tab = await open(context, await door.another());
    for (const route of routes)
      for (const size of scheme === "light" ? sizes : sizes.slice(-2, -1)) {
        const name = `${route.replaceAll(/[^\w.]+/g, "_") || "overview"}-${size[0]}-${scheme}.png`;
        await shoot(tab, base, route, size, join(folder, name));
      }
    await context.close();
  }
}
