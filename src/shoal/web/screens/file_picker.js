// A button that reads one small file and sends its name and bytes.
export default {
  props: { label: String, accept: String, limit: Number },
  emits: ["picked", "refused"],
  methods: {
    async pick(event) {
      const file = event.target.files[0];
      event.target.value = "";
      if (!file) return;
      if (file.size > this.limit) return this.$emit("refused", { size: file.size });
      const bytes = new Uint8Array(await file.arrayBuffer());
      let text = "";
      for (let at = 0; at < bytes.length; at += 32768)
        text += String.fromCharCode(...bytes.subarray(at, at + 32768));
      this.$emit("picked", { name: file.name, content: btoa(text) });
    },
  },
  template: `
    <label class="s-file">
      <span>{{ label }}</span>
      <input type="file" :accept="accept" @change="pick" />
    </label>`,
};
