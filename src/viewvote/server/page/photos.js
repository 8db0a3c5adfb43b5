// The photos on the page: small pictures of them, and what is known about each.

const SHOWN = 1280; // longest side of the bitmap that views are cut from
const THUMB = 320;

let serial = 0;

/** A photo as the page knows it. `asked` is the request whose answer it has or waits for. */
export function newPhoto(file, shipped = false) {
  return {
    id: ++serial,
    file,
    shipped,
    name: file.name || `pasted-${serial}.png`,
    url: URL.createObjectURL(file),
    thumb: null,
    bitmap: null,
    width: 0,
    height: 0,
    visible: null, // whether this browser can show it; null: not known yet
    asked: null,
    state: "waiting", // waiting, source (the source view is answered), voting, done, failed
    source: null, // prediction of the source view alone
    round: null, // the last round of the vote
    leaders: [],
    budget: 0,
    prediction: null,
    failure: null,
  };
}

/** Find the photo's size and make its thumbnail. */
export async function look(photo) {
  try {
    const full = await createImageBitmap(photo.file);
    photo.width = full.width;
    photo.height = full.height;
    const small = await shrunk(full, THUMB);
    photo.thumb = URL.createObjectURL(await jpeg(small));
    small.close();
    full.close();
    photo.visible = true;
  } catch {
    photo.visible = false;
  }
}

/** The bitmap that views are cut from; only the open photo has one, as many would fill the memory. */
export async function unfold(photo) {
  const full = await createImageBitmap(photo.file);
  const bitmap = await shrunk(full, SHOWN);
  full.close();
  return bitmap;
}

export function fold(photo) {
  photo?.bitmap?.close();
  if (photo) photo.bitmap = null;
}

export function forget(photo) {
  for (const url of [photo.url, photo.thumb]) if (url) URL.revokeObjectURL(url);
  fold(photo);
}

const shrunk = (bitmap, side) => {
  const scale = Math.min(1, side / Math.max(bitmap.width, bitmap.height));
  return createImageBitmap(bitmap, {
    resizeWidth: Math.max(1, Math.round(bitmap.width * scale)),
    resizeHeight: Math.max(1, Math.round(bitmap.height * scale)),
    resizeQuality: "medium",
  });
};

async function jpeg(bitmap) {
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
  const context = canvas.getContext("2d");
  context.fillStyle = "#fff";
  context.fillRect(0, 0, bitmap.width, bitmap.height);
  context.drawImage(bitmap, 0, 0);
  return canvas.convertToBlob({ type: "image/jpeg", quality: 0.85 });
}

/** What there is to show of a photo's vote: its prediction, or its last round; the one before until there is a new one. */
export function known(photo) {
  const voting = photo.state === "voting" && photo.round;
  return { prediction: voting ? null : photo.prediction, round: voting ? photo.round : null };
}

/** The views to show of a photo. */
export function viewsOf(photo) {
  const { prediction, round } = known(photo);
  return prediction?.trace.views ?? round?.views ?? [];
}

/** Draw a view as the model saw it: its box, stretched to a square, mirrored where it was. */
export function drawView(canvas, photo, view) {
  const context = canvas.getContext("2d");
  if (!photo.bitmap) return;
  const scale = photo.bitmap.width / photo.width;
  const [left, top, right, bottom] = view.box.map((value) => value * scale);
  const side = canvas.width;
  context.save();
  if (view.flip) {
    context.translate(side, 0);
    context.scale(-1, 1);
  }
  context.imageSmoothingQuality = "high";
  context.drawImage(photo.bitmap, left, top, right - left, bottom - top, 0, 0, side, side);
  context.restore();
}
