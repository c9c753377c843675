/** The words of a title in small letters, joined by hyphens. */
export function slug(title) {
  return title.toLowerCase().trim().split(/\s+/).join("-");
}
